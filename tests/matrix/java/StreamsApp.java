import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * A Kafka Streams application as people write it: {@code StreamsApp FILE INPUT OUTPUT RECORDS STATE_DIRECTORY}.
 *
 * <p>It counts by key, exactly once: so admin (internal topics), group and restore consumers and transactional producers are
 * all made by Streams itself, from one set of properties. Stops when RECORDS records were counted.
 */
public final class StreamsApp {
  private StreamsApp() {}

  public static void main(String[] arguments) throws Exception {
    Properties properties = Exerciser.load(arguments[0]);
    long expected = Long.parseLong(arguments[3]);
    properties.put("application.id", "count-" + arguments[1]);
    properties.put("processing.guarantee", "exactly_once_v2");
    properties.put("auto.offset.reset", "earliest");
    properties.put("replication.factor", "3");
    properties.put("statestore.cache.max.bytes", "0");
    properties.put("state.dir", arguments[4]);

    Map<String, Long> counts = new ConcurrentHashMap<>();
    CountDownLatch done = new CountDownLatch(1);
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(arguments[1], Consumed.with(Serdes.String(), Serdes.String()))
        .groupByKey()
        .count()
        .toStream()
        .peek((key, count) -> {
          counts.merge(key, 1L, Long::sum);
          if (counts.values().stream().mapToLong(Long::longValue).sum() >= expected) {
            done.countDown();
          }
        })
        .mapValues(String::valueOf)
        .to(arguments[2], Produced.with(Serdes.String(), Serdes.String()));

    Map<String, Object> line = new TreeMap<>();
    line.put("role", "streams");
    try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
      streams.setUncaughtExceptionHandler(failure -> {
        line.put("error", Exerciser.causes(failure));
        done.countDown();
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
      });
      streams.start();
      line.put("in_time", done.await(180, TimeUnit.SECONDS));
      // Closing commits the last transaction: without it a read_committed reader of OUTPUT would miss its records.
      line.put("closed", streams.close(Duration.ofSeconds(60)));
    }
    line.put("ok", Boolean.TRUE.equals(line.get("in_time")) && !line.containsKey("error"));
    line.put("counts", new TreeMap<>(counts));
    Json.print(line);
  }
}
