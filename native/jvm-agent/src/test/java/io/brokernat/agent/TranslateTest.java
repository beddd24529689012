package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.brokernat.agent.address.AddressMap;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TranslateTest {
    @Test
    void answersLineByLine() throws Exception {
        String print = AddressMap.parse("a:1=b:1").fingerprint();
        assertEquals(
                List.of(print + "\tb:1", print + "\t-", print + "\t!missing-port", "-\t!missing-equals", "-\t!needs-node-id"),
                run("a:1=b:1\ta:1\n# no\\na:1\\t=\\tb:1\ta:2\na:1=b:1\ta\na\ta:1\na:1=b:{1+id}\ta:1\n"));
    }

    private static List<String> run(String requests) throws Exception {
        InputStream in = System.in;
        PrintStream out = System.out;
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try {
            System.setIn(new ByteArrayInputStream(requests.getBytes(StandardCharsets.UTF_8)));
            System.setOut(new PrintStream(answers, true, StandardCharsets.UTF_8));
            Translate.main(new String[0]);
        } finally {
            System.setIn(in);
            System.setOut(out);
        }
        return answers.toString(StandardCharsets.UTF_8).lines().collect(Collectors.toList());
    }
}
