import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What an ordinary Kafka program does, one JSON line for each role: {@code Exerciser FILE TOPIC ROLE... [+ FILE TOPIC ROLE...]}.
 *
 * <p>FILE holds plain client properties; nothing here knows about maps or agents. Compiled once against kafka-clients 2.4.1 and run
 * unchanged on every later one, so it calls only what 2.4.1 to 4.4 share; {@code Admin.listOffsets} (2.5) is reached by reflection.
 * The parts after a {@code +} run at the same time in this JVM. A role that fails prints its cause and the others go on.
 */
public final class Exerciser {
  private static final int RECORDS_PER_PARTITION = 20;
  private static final Duration POLL = Duration.ofMillis(200);

  private final Properties properties;
  private final String topic;
  private final String file;
  private final long patience;

  private Exerciser(String file, String topic) throws Exception {
    this.file = Path.of(file).getFileName().toString();
    this.topic = topic;
    this.properties = load(file);
    this.patience = Long.parseLong(properties.getProperty("default.api.timeout.ms", "120000"));
  }

  public static void main(String[] arguments) throws Exception {
    List<Thread> parts = new ArrayList<>();
    CountDownLatch together = new CountDownLatch(1);
    for (List<String> part : split(arguments)) {
      Exerciser exerciser = new Exerciser(part.get(0), part.get(1));
      List<String> roles = part.subList(2, part.size());
      Thread thread = new Thread(() -> exerciser.play(roles, together), part.get(0));
      thread.start();
      parts.add(thread);
    }
    together.countDown();
    for (Thread part : parts) {
      part.join();
    }
  }

  private interface Role {
    Map<String, Object> play() throws Exception;
  }

  private void play(List<String> names, CountDownLatch together) {
    Map<String, Role> roles = new HashMap<>();
    roles.put("admin", this::admin);
    roles.put("producer", this::producer);
    roles.put("transactional", this::transactional);
    roles.put("group", this::group);
    roles.put("read", this::read);
    for (String name : names) {
      Map<String, Object> line = new TreeMap<>();
      line.put("role", name);
      line.put("client", file);
      try {
        together.await();
        line.putAll(roles.get(name).play());
        line.put("ok", true);
      } catch (Throwable failure) {
        line.put("ok", false);
        line.put("error", causes(failure));
      }
      Json.print(line);
    }
  }

  /** Cluster, topic, one question to each broker that only this broker can answer, and offsets from each leader. */
  private Map<String, Object> admin() throws Exception {
    AdminClient admin = AdminClient.create(properties);
    try {
      DescribeClusterResult cluster = admin.describeCluster();
      Collection<Node> nodes = await(cluster.nodes());
      createTopic(admin, nodes);
      Map<String, Object> seen = new TreeMap<>();
      seen.put("cluster_id", await(cluster.clusterId()));
      seen.put("controller", await(cluster.controller()).id());
      seen.put("nodes", nodes.stream().map(n -> n.id() + " " + n.host() + ":" + n.port()).sorted().collect(Collectors.toList()));
      seen.put("answered_for", answeredFor(admin, nodes));
      seen.put("list_offsets", listOffsets(admin, nodes.size()));
      return seen;
    } finally {
      // Every answer was waited for. With patience it sleeps until its metadata is old, 5 minutes, where a call expires meanwhile.
      admin.close(Duration.ZERO);
    }
  }

  private void createTopic(AdminClient admin, Collection<Node> nodes) throws Exception {
    // Placed by hand, so that every broker leads one partition and a role cannot pass by talking to a single broker.
    List<Integer> ids = nodes.stream().map(Node::id).sorted().collect(Collectors.toList());
    Map<Integer, List<Integer>> placed = new HashMap<>();
    for (int partition = 0; partition < ids.size(); partition++) {
      List<Integer> replicas = new ArrayList<>(ids);
      Collections.rotate(replicas, -partition);
      placed.put(partition, replicas);
    }
    try {
      await(admin.createTopics(Set.of(new NewTopic(topic, placed))).all());
    } catch (ExecutionException failure) {
      if (!(failure.getCause() instanceof TopicExistsException)) {
        throw failure;
      }
    }
  }

  private List<Integer> answeredFor(AdminClient admin, Collection<Node> nodes) throws Exception {
    Set<Integer> answered = new TreeSet<>();
    for (Node node : nodes) {
      ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
      await(admin.describeConfigs(Set.of(broker)).all());
      answered.add(node.id());
    }
    return new ArrayList<>(answered);
  }

  @SuppressWarnings("unchecked")
  private Object listOffsets(AdminClient admin, int partitions) throws Exception {
    Class<?> spec;
    try {
      spec = Class.forName(AdminClient.class.getPackageName() + ".OffsetSpec");
    } catch (ClassNotFoundException beforeKafka25) {
      return "no such call";
    }
    Object latest = spec.getMethod("latest").invoke(null);
    Map<TopicPartition, Object> asked = new HashMap<>();
    for (int partition = 0; partition < partitions; partition++) {
      asked.put(new TopicPartition(topic, partition), latest);
    }
    long until = System.currentTimeMillis() + patience;
    while (true) {
      Object result = AdminClient.class.getMethod("listOffsets", Map.class).invoke(admin, asked);
      Object future = result.getClass().getMethod("all").invoke(result);
      try {
        return await((KafkaFuture<Map<?, ?>>) future).size();
      } catch (ExecutionException failure) {
        // A broker that has just started may not know the topic yet. Clients of 4.4 do not ask another time.
        if (!(failure.getCause() instanceof UnknownTopicOrPartitionException) || System.currentTimeMillis() > until) {
          throw failure;
        }
      }
    }
  }

  /** Records acknowledged by all replicas, on every partition; {@code acked} counts them by leader. */
  private Map<String, Object> producer() throws Exception {
    Properties mine = with("acks", "all");
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(mine, new StringSerializer(), new StringSerializer())) {
      return Map.of("acked", send(producer, "plain"));
    }
  }

  private Map<String, Integer> send(KafkaProducer<String, String> producer, String value) throws Exception {
    Map<String, Integer> acked = new TreeMap<>();
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    List<PartitionInfo> partitions = producer.partitionsFor(topic);
    for (int record = 0; record < RECORDS_PER_PARTITION; record++) {
      for (PartitionInfo partition : partitions) {
        sent.add(producer.send(new ProducerRecord<>(topic, partition.partition(), file, value)));
      }
    }
    producer.flush();
    for (Future<RecordMetadata> each : sent) {
      int partition = each.get().partition();
      PartitionInfo info = partitions.stream().filter(p -> p.partition() == partition).findFirst().orElseThrow();
      acked.merge(info.leader().idString(), 1, Integer::sum);
    }
    return acked;
  }

  /** One committed and one aborted transaction over all partitions; a read_committed reader sees only the first. */
  private Map<String, Object> transactional() throws Exception {
    Properties mine = with("transactional.id", "tx-" + UUID.randomUUID());
    String run = UUID.randomUUID().toString();
    int partitions;
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(mine, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      partitions = send(producer, "committed " + run).size();
      producer.commitTransaction();
      producer.beginTransaction();
      send(producer, "aborted " + run);
      producer.abortTransaction();
    }
    Map<String, Integer> values = new HashMap<>();
    try (KafkaConsumer<String, String> consumer = consumer(with("isolation.level", "read_committed"))) {
      List<TopicPartition> all = assignAll(consumer);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      long deadline = deadline();
      while (!reached(consumer, ends) && System.nanoTime() < deadline) {
        consumer.poll(POLL).forEach(record -> values.merge(record.value(), 1, Integer::sum));
      }
    }
    return Map.of(
        "leaders", partitions,
        "committed", values.getOrDefault("committed " + run, 0),
        "aborted", values.getOrDefault("aborted " + run, 0));
  }

  /** A group reads all there is and commits; a second member of the same group finds the commits and reads only what came later. */
  private Map<String, Object> group() throws Exception {
    Properties mine = with("group.id", "group-" + UUID.randomUUID());
    mine.put("auto.offset.reset", "earliest");
    mine.put("enable.auto.commit", "false");
    long there;
    long read;
    try (KafkaConsumer<String, String> first = consumer(mine)) {
      there = first.endOffsets(partitions(first)).values().stream().mapToLong(Long::longValue).sum();
      read = readAsMember(first);
    }
    long committed;
    producer();
    long reread;
    try (KafkaConsumer<String, String> second = consumer(mine)) {
      Map<TopicPartition, OffsetAndMetadata> offsets = second.committed(Set.copyOf(partitions(second)));
      committed = offsets.values().stream().mapToLong(OffsetAndMetadata::offset).sum();
      reread = readAsMember(second);
    }
    return Map.of("there", there, "read", read, "committed", committed, "read_after_rejoin", reread);
  }

  private long readAsMember(KafkaConsumer<String, String> consumer) {
    consumer.subscribe(List.of(topic));
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions(consumer));
    long read = 0;
    long deadline = deadline();
    while (System.nanoTime() < deadline) {
      read += consumer.poll(POLL).count();
      if (consumer.assignment().size() == ends.size() && reached(consumer, ends)) {
        consumer.commitSync();
        return read;
      }
    }
    throw new IllegalStateException("the group did not reach the end: assigned " + consumer.assignment() + ", read " + read);
  }

  /** Every record of the topic, counted by value: what a plain reader without a group sees. */
  private Map<String, Object> read() {
    Map<String, Integer> keys = new TreeMap<>();
    try (KafkaConsumer<String, String> consumer = consumer(properties)) {
      List<TopicPartition> all = assignAll(consumer);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      long deadline = deadline();
      while (!reached(consumer, ends)) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("did not reach " + ends + "; read " + keys);
        }
        for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
          keys.merge(record.key(), 1, Integer::sum);
        }
      }
    }
    return Map.of("keys", keys);
  }

  private KafkaConsumer<String, String> consumer(Properties mine) {
    return new KafkaConsumer<>(mine, new StringDeserializer(), new StringDeserializer());
  }

  private List<TopicPartition> assignAll(KafkaConsumer<String, String> consumer) {
    List<TopicPartition> all = partitions(consumer);
    consumer.assign(all);
    return all;
  }

  private List<TopicPartition> partitions(KafkaConsumer<String, String> consumer) {
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(topic, info.partition()))
        .collect(Collectors.toList());
  }

  private static boolean reached(KafkaConsumer<String, String> consumer, Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }

  private long deadline() {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patience);
  }

  private <T> T await(KafkaFuture<T> future) throws Exception {
    return future.get(patience, TimeUnit.MILLISECONDS);
  }

  private Properties with(String key, String value) {
    Properties mine = new Properties();
    mine.putAll(properties);
    mine.put(key, value);
    return mine;
  }

  static Properties load(String file) throws Exception {
    Properties properties = new Properties();
    try (java.io.Reader reader = Files.newBufferedReader(Path.of(file))) {
      properties.load(reader);
    }
    return properties;
  }

  static String causes(Throwable failure) {
    List<String> chain = new ArrayList<>();
    for (Throwable each = failure; each != null && chain.size() < 8; each = each.getCause()) {
      chain.add(each.getClass().getSimpleName() + ": " + each.getMessage());
    }
    return String.join(" <- ", chain);
  }

  private static List<List<String>> split(String[] arguments) {
    List<List<String>> parts = new ArrayList<>();
    parts.add(new ArrayList<>());
    for (String argument : Arrays.asList(arguments)) {
      if (argument.equals("+")) {
        parts.add(new ArrayList<>());
      } else {
        parts.get(parts.size() - 1).add(argument);
      }
    }
    return parts;
  }
}
