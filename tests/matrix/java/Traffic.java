import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.PreferredLeaderNotAvailableException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A producer and a consumer group that keep going while brokers come and go: {@code Traffic FILE TOPIC}.
 *
 * <p>Commands on stdin: {@code status}, {@code elect} (hand leadership back to the preferred replicas), {@code stop} (end of input too).
 * Every status line tells what was acknowledged and read so far by partition, and who leads. What counts in the end is
 * {@code lost}: records that a broker acknowledged and the group never read.
 */
public final class Traffic {
  private final Properties properties;
  private final String topic;
  private final AtomicBoolean producing = new AtomicBoolean(true);
  private final AtomicBoolean consuming = new AtomicBoolean(true);
  private final Set<String> acked = ConcurrentHashMap.newKeySet();
  private final Set<String> read = ConcurrentHashMap.newKeySet();
  private final Map<String, Long> ackedByPartition = new ConcurrentHashMap<>();
  private final Map<String, Long> readByPartition = new ConcurrentHashMap<>();
  private final Set<String> failures = ConcurrentHashMap.newKeySet();
  private volatile long repeated;
  private volatile Map<String, Integer> leaders = new TreeMap<>();

  private Traffic(Properties properties, String topic) {
    this.properties = properties;
    this.topic = topic;
  }

  public static void main(String[] arguments) throws Exception {
    Traffic traffic = new Traffic(Exerciser.load(arguments[0]), arguments[1]);
    Thread producer = new Thread(traffic::produce, "producer");
    Thread consumer = new Thread(traffic::consume, "consumer");
    producer.start();
    consumer.start();
    java.io.BufferedReader commands = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
    for (String command = commands.readLine(); command != null && !command.equals("stop"); command = commands.readLine()) {
      if (command.equals("elect")) {
        traffic.elect();
      }
      traffic.print("status");
    }
    traffic.producing.set(false);
    producer.join();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(180);
    while (!traffic.read.containsAll(traffic.acked) && System.nanoTime() < deadline) {
      Thread.sleep(50);
    }
    traffic.consuming.set(false);
    consumer.join();
    traffic.print("end");
  }

  private void produce() {
    Properties mine = copy();
    mine.put("acks", "all");
    mine.put("enable.idempotence", "true");
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(mine, new StringSerializer(), new StringSerializer())) {
      for (long sequence = 0; producing.get(); sequence++) {
        Map<String, Integer> now = new TreeMap<>();
        for (PartitionInfo partition : producer.partitionsFor(topic)) {
          now.put(String.valueOf(partition.partition()), partition.leader() == null ? -1 : partition.leader().id());
          String value = partition.partition() + "-" + sequence;
          producer.send(new ProducerRecord<>(topic, partition.partition(), null, value), (metadata, failure) -> {
            if (failure == null) {
              acked.add(value);
              ackedByPartition.merge(String.valueOf(metadata.partition()), 1L, Long::sum);
            } else {
              failures.add(Exerciser.causes(failure));
            }
          });
        }
        leaders = now;
        Thread.sleep(5);
      }
      producer.flush();
    } catch (Exception failure) {
      failures.add(Exerciser.causes(failure));
    }
  }

  private void consume() {
    Properties mine = copy();
    mine.put("group.id", "traffic-" + topic);
    mine.put("auto.offset.reset", "earliest");
    mine.put("enable.auto.commit", "false");
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(mine, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(topic));
      while (consuming.get()) {
        consumer.poll(Duration.ofMillis(100)).forEach(record -> {
          repeated += read.add(record.value()) ? 0 : 1;
          readByPartition.merge(String.valueOf(record.partition()), 1L, Long::sum);
        });
        // Asynchronous, so that a coordinator that just died delays a commit and not the reading.
        consumer.commitAsync();
      }
    } catch (Exception failure) {
      failures.add(Exerciser.causes(failure));
    }
  }

  private void elect() throws Exception {
    Set<TopicPartition> ours = new HashSet<>();
    for (String partition : leaders.keySet()) {
      ours.add(new TopicPartition(topic, Integer.parseInt(partition)));
    }
    try (AdminClient admin = AdminClient.create(properties)) {
      admin.electLeaders(ElectionType.PREFERRED, ours).partitions().get(180, TimeUnit.SECONDS).forEach((partition, failure) -> {
        // A broker that has just started cannot lead until it is in sync again: whoever waits for it asks again.
        if (failure.isPresent() && !(failure.get() instanceof ElectionNotNeededException) && !(failure.get() instanceof PreferredLeaderNotAvailableException)) {
          failures.add(partition + ": " + Exerciser.causes(failure.get()));
        }
      });
    }
  }

  private void print(String event) {
    Set<String> lost = new HashSet<>(acked);
    lost.removeAll(read);
    Map<String, Object> line = new HashMap<>();
    line.put("event", event);
    line.put("acked", acked.size());
    line.put("acked_by_partition", new TreeMap<>(ackedByPartition));
    line.put("read_by_partition", new TreeMap<>(readByPartition));
    line.put("leaders", leaders);
    line.put("repeated", repeated);
    line.put("failures", List.copyOf(failures));
    line.put(event.equals("end") ? "lost" : "unread", lost.size());
    Json.print(line);
  }

  private Properties copy() {
    Properties mine = new Properties();
    mine.putAll(properties);
    return mine;
  }
}
