package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.MapException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The text of a map in an argument or a property: rules, or {@code file:/path} of a file with one rule per line. The
 * implementations in C and Python refuse the same texts: {@code tests/vectors/map_texts.json}.
 */
final class MapText {
    private static final String FILE = "file:";
    private static final Pattern YAML = Pattern.compile("(?m)^\\s*(-\\s|---|[A-Za-z_]+:\\s*$)");
    // Bounds the memory if the path is an endless file, such as a device.
    private static final int MAX_FILE = 4 << 20;

    private MapText() {}

    /** @throws MapException with all wrong rules, the reason why the file cannot be read, or no rule at all */
    static AddressMap parse(String text) throws MapException {
        String trimmed = text.trim();
        if (trimmed.startsWith(FILE)) {
            return parseFile(trimmed.substring(FILE.length()));
        }
        return withRules(AddressMap.parse(text), "the text has no rule");
    }

    private static AddressMap parseFile(String path) throws MapException {
        String rules = read(path);
        try {
            return withRules(AddressMap.parse(rules), "the rules file `" + path + "` has no rule");
        } catch (MapException e) {
            if (YAML.matcher(rules).find()) {
                throw new MapException("`" + path + "` looks like YAML, but a rules file has one rule a line;"
                        + " write it with `brokernat map export --cluster NAME`");
            }
            throw e.faults().isEmpty() ? e : new MapException("`" + path + "`: " + e.getMessage());
        }
    }

    /** A map without rules may be a truncated file; an empty text means no map. */
    private static AddressMap withRules(AddressMap map, String otherwise) throws MapException {
        if (map.uses().isEmpty()) {
            throw new MapException(otherwise + "; write `advertised = reachable`, or leave brokernat.map empty to use no map");
        }
        return map;
    }

    private static String read(String path) throws MapException {
        try (InputStream in = Files.newInputStream(Path.of(path))) {
            byte[] content = in.readNBytes(MAX_FILE + 1);
            if (content.length > MAX_FILE) {
                throw cannotRead(path, "File too large");
            }
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new MapException("the rules file `" + path + "` cannot be read: it is not UTF-8 text; save it as UTF-8");
        } catch (IOException | InvalidPathException e) {
            throw cannotRead(path, reason(e));
        }
    }

    private static MapException cannotRead(String path, String reason) {
        return new MapException("the rules file `" + path + "` cannot be read: " + reason
                + "; write it with `brokernat map export`, readable for the user of this program");
    }

    /** The system's message, as in the implementations in C and Python. */
    private static String reason(Exception e) {
        if (e instanceof NoSuchFileException) {
            return "No such file or directory";
        }
        if (e instanceof AccessDeniedException) {
            return "Permission denied";
        }
        String reason = e instanceof FileSystemException ? ((FileSystemException) e).getReason() : e.getMessage();
        return reason == null ? e.toString() : reason;
    }
}
