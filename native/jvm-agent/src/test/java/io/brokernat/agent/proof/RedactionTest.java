package io.brokernat.agent.proof;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RedactionTest {
    private final Redaction redaction = new Redaction(Map.of(
            "sasl.jaas.config", "org.example.Login required username=\"me\" password=\"can\\\"ary\" token='other';",
            "ssl.key.password", "canary-2",
            "ssl.keystore.key", "canary-3",
            "client.id", "audit"));

    @Test
    void hidesSecretsAndTheQuotedPartsOfAJaasEntryButNotTheUserName() {
        assertEquals(
                "user me [hidden] [hidden] [hidden] [hidden] has no message",
                redaction.clean("user me can\\\"ary other canary-2 canary-3 has no message"));
    }

    @Test
    void hidesTheWholeOfASecretThatBeginsWithAnotherOne() {
        Redaction alike = new Redaction(Map.of("ssl.key.password", "canary", "ssl.keystore.password", "canary-of-the-store"));
        assertEquals("[hidden] and [hidden]", alike.clean("canary-of-the-store and canary"));
    }

    @Test
    void cleansOnlyWhatKafkaWorded() {
        Map<String, Object> facts = new HashMap<>(Map.of("message", "bad canary-2", "advertised", "me:9092"));
        redaction.cleanWords(facts);
        assertEquals(Map.of("message", "bad [hidden]", "advertised", "me:9092"), facts);
    }

    @Test
    void aFunctionThatIsPrintedShowsNoProperty() {
        String printed = new ProofFunction(Map.of("ssl.key.password", "canary"), "1=a:1", "").toString();
        assertFalse(printed.contains("canary"), printed);
    }
}
