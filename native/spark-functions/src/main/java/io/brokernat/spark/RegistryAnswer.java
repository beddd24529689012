package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The answer of a registry to one request: a status, and a JSON object without its nulls. */
final class RegistryAnswer {
    private static final int CONNECT_MILLIS = 5_000;
    private static final int READ_MILLIS = 10_000;
    private static final int MOST_BYTES = 16 << 20;
    private static final JsonFactory JSON = new JsonFactory();

    final int status;

    /** Null if the body is not a JSON object. Numbers are strings, as written. */
    final Map<String, Object> content;

    private RegistryAnswer(int status, Map<String, Object> content) {
        this.status = status;
        this.content = content;
    }

    /**
     * Sends a request and reads its answer.
     *
     * @param address {@code host:port} to dial instead of the URL's; null for the URL's own.
     * @param authorization the value of the header; null without a login.
     * @param body the strings of a JSON object to send by POST; null for GET.
     * @throws IOException if there is no answer.
     */
    static RegistryAnswer to(URL asked, String address, String authorization, Map<String, String> body)
            throws IOException {
        HttpURLConnection connection = RegistryConnection.open(asked, address);
        connection.setConnectTimeout(CONNECT_MILLIS);
        connection.setReadTimeout(READ_MILLIS);
        // A redirect must not send the login to another host.
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestProperty("Accept", "application/vnd.schemaregistry.v1+json, application/json");
        if (authorization != null) {
            connection.setRequestProperty("Authorization", authorization);
        }
        if (body != null) {
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/vnd.schemaregistry.v1+json");
            write(connection.getOutputStream(), body);
        }
        int status = connection.getResponseCode();
        try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return new RegistryAnswer(status, in == null ? null : object(in.readNBytes(MOST_BYTES)));
        }
    }

    private static void write(OutputStream to, Map<String, String> body) throws IOException {
        try (JsonGenerator out = JSON.createGenerator(to)) {
            out.writeStartObject();
            for (Map.Entry<String, String> each : body.entrySet()) {
                out.writeStringField(each.getKey(), each.getValue());
            }
            out.writeEndObject();
        }
    }

    /** Null if the bytes are not a JSON object. */
    static Map<String, Object> object(byte[] body) {
        try (JsonParser in = JSON.createParser(body)) {
            return in.nextToken() == JsonToken.START_OBJECT ? object(in) : null;
        } catch (IOException noJson) {
            return null;
        }
    }

    private static Map<String, Object> object(JsonParser in) throws IOException {
        Map<String, Object> found = new LinkedHashMap<>();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            found.put(name, value(in));
        }
        found.values().removeIf(Objects::isNull);
        return found;
    }

    private static Object value(JsonParser in) throws IOException {
        switch (in.currentToken()) {
            case START_OBJECT:
                return object(in);
            case START_ARRAY:
                List<Object> elements = new ArrayList<>();
                while (in.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(value(in));
                }
                return elements;
            case VALUE_NULL:
                return null;
            default:
                return in.getText();
        }
    }
}
