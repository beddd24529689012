package example.audit;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.support.ProducerListener;
import org.springframework.stereotype.Component;

/** Writes every record that Kafka did not take into the log, whole, so that it can be sent again by hand. */
@Component
@Profile("!file")
class FailedRecords implements ProducerListener<Object, Object> {
    private static final Logger LOG = LoggerFactory.getLogger(FailedRecords.class);

    @Override
    public void onError(ProducerRecord<Object, Object> record, RecordMetadata metadata, Exception cause) {
        LOG.error("not sent: topic={} key={} value={} cause={}", record.topic(), record.key(), record.value(), cause);
    }
}
