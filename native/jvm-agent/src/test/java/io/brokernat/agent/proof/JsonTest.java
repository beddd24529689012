package io.brokernat.agent.proof;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonParser;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void whatIsWrittenIsReadBack() {
        TreeMap<String, Object> value = new TreeMap<>();
        value.put("text", "a \"quoted\" \\ line\nnext \u0001 \u00e4 \ud83d\ude00");
        value.put("list", Arrays.asList(1, true, null, List.of()));
        assertEquals(value.get("text"), JsonParser.parseString(Json.write(value)).getAsJsonObject().get("text").getAsString());
        assertEquals("[1,true,null,[]]", Json.write(value.get("list")));
    }
}
