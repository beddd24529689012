import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;

/** What spring-kafka logs when its client fails: {@code SpringClient BOOTSTRAP}. */
public final class SpringClient {
  private SpringClient() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, Object> properties = new HashMap<>();
    properties.put("bootstrap.servers", arguments[0]);
    properties.put("max.block.ms", 3000);
    properties.put("request.timeout.ms", 2000);
    properties.put("delivery.timeout.ms", 2500);
    properties.put("linger.ms", 0);
    properties.put("default.api.timeout.ms", 3000);
    KafkaTemplate<String, String> template =
        new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(properties, new StringSerializer(), new StringSerializer()));
    try {
      template.send("audit", "alice", "opened the door").get();
    } catch (Exception failure) {
      failure.printStackTrace();
    }
    KafkaAdmin admin = new KafkaAdmin(properties);
    GenericApplicationContext context = new GenericApplicationContext();
    context.registerBean("audit", NewTopic.class, () -> new NewTopic("audit", 1, (short) 1));
    context.refresh();
    admin.setApplicationContext(context);
    admin.setOperationTimeout(3);
    admin.initialize();
    ContainerProperties listening = new ContainerProperties("audit");
    listening.setGroupId("audit");
    listening.setMessageListener((MessageListener<String, String>) record -> {});
    KafkaMessageListenerContainer<String, String> container =
        new KafkaMessageListenerContainer<>(
            new DefaultKafkaConsumerFactory<>(properties, new StringDeserializer(), new StringDeserializer()), listening);
    container.start();
    Thread.sleep(5000);
    Runtime.getRuntime().halt(0);
  }
}
