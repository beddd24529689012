package example.audit;

import org.springframework.context.annotation.Profile;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Service;

/** Sends audit events to the other department's Kafka. It knows nothing of addresses. */
@Service
@Profile("!file")
class AuditToKafka implements Audit {
    private static final String TOPIC = "audit";
    private final KafkaTemplate<String, AuditEvent> template;

    AuditToKafka(KafkaTemplate<String, AuditEvent> template) {
        this.template = template;
    }

    @Override
    public void record(AuditEvent event) {
        template.send(TOPIC, event.user(), event);
    }
}
