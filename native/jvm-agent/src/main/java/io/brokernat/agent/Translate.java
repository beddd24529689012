package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.Endpoint;
import io.brokernat.agent.address.MapException;
import io.brokernat.agent.address.NotationException;
import io.brokernat.agent.address.Translation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Translates endpoints for tests that compare the implementations: lines of {@code RULES<TAB>host:port} in, lines of
 * {@code fingerprint<TAB>host:port}, {@code -} or {@code !kind} out ({@code tests/vectors/address_map/README.md}).
 */
public final class Translate {
    private Translate() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] request = line.split("\t", 2);
            out.println(answer(unescape(request[0]), unescape(request[1])));
        }
    }

    static String answer(String rules, String endpoint) {
        AddressMap map;
        try {
            map = AddressMap.parse(rules);
        } catch (MapException e) {
            return "-\t!" + e.faults().get(0).fault().kind();
        }
        try {
            Translation translation = map.translate(Endpoint.parse(endpoint));
            return map.fingerprint() + "\t" + (translation == null ? "-" : translation.endpoint);
        } catch (NotationException e) {
            return map.fingerprint() + "\t!" + e.fault().kind();
        }
    }

    private static String unescape(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                i++;
                int escape = "nrt\\".indexOf(text.charAt(i));
                plain.append(escape < 0 ? "\\" + text.charAt(i) : "\n\r\t\\".substring(escape, escape + 1));
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
