import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One warm JVM that answers to commands on stdin, so that two of them can take turns: {@code Throughput FILE RECORD_BYTES}.
 *
 * <p>{@code create TOPIC}: one partition for each broker, one replica. {@code delete TOPIC}. {@code produce TOPIC N}.
 * {@code consume TOPIC N}. Each answers with the seconds it took, from making the client to its last record, connections included.
 */
public final class Throughput {
  private final Properties properties = new Properties();
  private final byte[] payload;

  private Throughput(String file, int bytes) throws Exception {
    try (java.io.Reader reader = Files.newBufferedReader(Path.of(file))) {
      properties.load(reader);
    }
    payload = new byte[bytes];
    new java.util.Random(1).nextBytes(payload);
  }

  public static void main(String[] arguments) throws Exception {
    Throughput bench = new Throughput(arguments[0], Integer.parseInt(arguments[1]));
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      long start = System.nanoTime();
      switch (words[0]) {
        case "create":
          bench.create(words[1]);
          break;
        case "delete":
          bench.delete(words[1]);
          break;
        case "produce":
          bench.produce(words[1], Long.parseLong(words[2]));
          break;
        case "consume":
          bench.consume(words[1], Long.parseLong(words[2]));
          break;
        default:
          throw new IllegalArgumentException(line);
      }
      System.out.println((System.nanoTime() - start) / 1e9);
      System.out.flush();
    }
  }

  private void create(String topic) throws Exception {
    try (AdminClient admin = AdminClient.create(properties)) {
      List<Integer> nodes = admin.describeCluster().nodes().get().stream().map(Node::id).sorted().collect(Collectors.toList());
      Map<Integer, List<Integer>> placed =
          nodes.stream().collect(Collectors.toMap(nodes::indexOf, List::of));
      NewTopic wanted = new NewTopic(topic, placed).configs(Map.of("file.delete.delay.ms", "1000", "min.insync.replicas", "1"));
      admin.createTopics(List.of(wanted)).all().get(30, TimeUnit.SECONDS);
      // Only leaders answer this. A producer that comes before a leader knows its partition waits and asks again, and
      // now and then leaves one batch behind until it expires.
      Map<TopicPartition, OffsetSpec> ends =
          placed.keySet().stream().collect(Collectors.toMap(each -> new TopicPartition(topic, each), each -> OffsetSpec.latest()));
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (true) {
        try {
          admin.listOffsets(ends).all().get(30, TimeUnit.SECONDS);
          return;
        } catch (ExecutionException unknownYet) {
          if (System.nanoTime() > deadline) {
            throw unknownYet;
          }
        }
      }
    }
  }

  private void delete(String topic) throws Exception {
    try (AdminClient admin = AdminClient.create(properties)) {
      admin.deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
    }
  }

  private void produce(String topic, long records) throws Exception {
    AtomicReference<Exception> failure = new AtomicReference<>();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
      int partitions = producer.partitionsFor(topic).size();
      for (long record = 0; record < records; record++) {
        producer.send(new ProducerRecord<>(topic, (int) (record % partitions), null, payload), (metadata, problem) -> {
          if (problem != null) {
            failure.set(problem);
          }
        });
      }
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private void consume(String topic, long records) {
    long read = 0;
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> all = consumer.partitionsFor(topic).stream()
          .map(info -> new TopicPartition(topic, info.partition()))
          .collect(Collectors.toList());
      consumer.assign(all);
      consumer.seekToBeginning(all);
      while (read < records) {
        read += consumer.poll(Duration.ofSeconds(1)).count();
      }
    }
  }
}
