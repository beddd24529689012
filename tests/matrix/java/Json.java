import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** One line of JSON on stdout for each thing that happened: maps, lists, strings, numbers and booleans, and no library to bring along. */
final class Json {
  private Json() {}

  static void print(Map<String, ?> line) {
    String text = of(line);
    synchronized (System.out) {
      System.out.println(text);
      System.out.flush();
    }
  }

  private static String of(Object value) {
    if (value instanceof Map) {
      return ((Map<?, ?>) value)
          .entrySet().stream().map(e -> quote(e.getKey()) + ":" + of(e.getValue())).collect(Collectors.joining(",", "{", "}"));
    }
    if (value instanceof List) {
      return ((List<?>) value).stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
    }
    return value instanceof Number || value instanceof Boolean ? value.toString() : quote(value);
  }

  private static String quote(Object value) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : String.valueOf(value).toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
