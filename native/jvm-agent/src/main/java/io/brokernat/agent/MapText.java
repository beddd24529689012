package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.MapException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The text of a map as an argument or a property gives it: rules, or {@code file:/path} of a file with one rule a line. */
final class MapText {
    private static final String FILE = "file:";
    private static final Pattern YAML = Pattern.compile("(?m)^\\s*(-\\s|---|[A-Za-z_]+:\\s*$)");

    private MapText() {}

    static AddressMap parse(String text) throws MapException {
        String trimmed = text.trim();
        return trimmed.startsWith(FILE) ? parseFile(trimmed.substring(FILE.length())) : AddressMap.parse(text);
    }

    private static AddressMap parseFile(String path) throws MapException {
        String rules;
        try {
            rules = Files.readString(Path.of(path));
        } catch (IOException | InvalidPathException e) {
            throw new MapException("the file of rules cannot be read: " + e);
        }
        try {
            return AddressMap.parse(rules);
        } catch (MapException e) {
            if (YAML.matcher(rules).find()) {
                throw new MapException("`" + path + "` looks like YAML, but holds one rule a line;"
                        + " write it with `brokernat map export --cluster NAME`");
            }
            throw new MapException("`" + path + "`: " + e.getMessage());
        }
    }
}
