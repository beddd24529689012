import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Clients that are expected to fail, all at once: {@code Provoke SECONDS FILE...}, one file of client properties for each situation.
 *
 * <p>What counts is what they log. What they throw is printed as a program without a handler prints it, between two marks that name
 * the situation. Compiled once against kafka-clients 2.4.1.
 */
public final class Provoke {
  private static final long LAST_WORDS_MS = 5000;

  private Provoke() {}

  private interface Role {
    void play(Properties properties, String topic, long end) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[0]));
    List<Thread> threads = new ArrayList<>();
    for (int index = 1; index < arguments.length; index++) {
      Properties properties = new Properties();
      try (Reader reader = Files.newBufferedReader(Path.of(arguments[index]))) {
        properties.load(reader);
      }
      String situation = (String) properties.remove("situation");
      String topic = (String) properties.remove("topic");
      threads.add(start(situation, "admin", Provoke::admin, properties, topic, end));
      threads.add(start(situation, "producer", Provoke::produce, properties, topic, end));
      threads.add(start(situation, "consumer", Provoke::consume, properties, topic, end));
      threads.add(start(situation, "transactional", Provoke::begin, properties, topic, end));
    }
    for (Thread thread : threads) {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()) + LAST_WORDS_MS));
    }
    // Clients that cannot be closed would keep the JVM.
    Runtime.getRuntime().halt(0);
  }

  private static Thread start(String situation, String name, Role role, Properties shared, String topic, long end) {
    Properties properties = new Properties();
    properties.putAll(shared);
    properties.put("client.id", situation + "-" + name);
    properties.put("group.id", situation);
    Thread thread =
        new Thread(
            () -> {
              try {
                role.play(properties, topic, end);
              } catch (Throwable failure) {
                print(situation, failure);
              }
            },
            situation + "-" + name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static synchronized void print(String situation, Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    System.err.print("<<<" + situation + "\n" + text + ">>>\n");
    System.err.flush();
  }

  private static void admin(Properties properties, String topic, long end) throws Exception {
    try (AdminClient admin = AdminClient.create(properties)) {
      admin.describeCluster().nodes().get();
      admin.listTopics().names().get();
      admin.describeConsumerGroups(List.of(properties.getProperty("group.id"))).all().get();
      admin.describeTopics(List.of(topic)).all().get();
    }
  }

  private static void produce(Properties properties, String topic, long end) throws Exception {
    int size = Integer.parseInt(properties.getProperty("record.size", "10"));
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      while (System.nanoTime() < end) {
        try {
          producer.send(new ProducerRecord<>(topic, "x".repeat(size))).get();
        } catch (Exception failure) {
          print((String) properties.get("group.id"), failure);
        }
        Thread.sleep(200);
      }
    }
  }

  private static void begin(Properties properties, String topic, long end) {
    properties.remove("enable.idempotence");
    properties.put("transactional.id", properties.get("client.id"));
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
    }
  }

  private static void consume(Properties properties, String topic, long end) throws Exception {
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(topic));
      while (System.nanoTime() < end) {
        consumer.poll(Duration.ofMillis(500));
      }
      consumer.partitionsFor(topic);
      consumer.commitSync();
    }
  }
}
