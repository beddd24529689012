import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * How long a record takes to its acknowledgement at a steady pace: {@code Pace FILE TOPIC RECORD_BYTES}, then
 * {@code RATE RECORDS} a line on stdin.
 *
 * <p>One producer for the life of the program, without linger, to partition 0. Each answer is the median in seconds. A record counts from
 * the moment at which it is sent, so a sender that is late makes no latency of its own.
 */
public final class Pace {
  private Pace() {}

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    try (java.io.Reader reader = Files.newBufferedReader(Path.of(arguments[0]))) {
      properties.load(reader);
    }
    properties.put("linger.ms", "0");
    byte[] payload = new byte[Integer.parseInt(arguments[2])];
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        String[] words = line.split(" ");
        System.out.println(median(producer, arguments[1], payload, Long.parseLong(words[0]), Integer.parseInt(words[1])));
        System.out.flush();
      }
    }
  }

  private static double median(
      KafkaProducer<byte[], byte[]> producer, String topic, byte[] payload, long rate, int records) {
    long[] taken = new long[records];
    AtomicInteger failed = new AtomicInteger();
    long begin = System.nanoTime();
    for (int record = 0; record < records; record++) {
      long due = begin + record * 1_000_000_000L / rate;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      int index = record;
      long sent = System.nanoTime();
      producer.send(new ProducerRecord<>(topic, 0, null, payload), (metadata, problem) -> {
        taken[index] = System.nanoTime() - sent;
        if (problem != null) {
          failed.incrementAndGet();
        }
      });
    }
    producer.flush();
    if (failed.get() > 0) {
      throw new IllegalStateException(failed + " records were not acknowledged");
    }
    Arrays.sort(taken);
    return taken[records / 2] / 1e9;
  }
}
