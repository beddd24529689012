package example.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

/** Writes audit events into a rolling file (logback-spring.xml), one JSON object a line; `brokernat ship` sends them. */
@Service
@Profile("file")
class AuditToFile implements Audit {
    private static final Logger FILE = LoggerFactory.getLogger("audit");
    private final ObjectMapper json = new ObjectMapper();

    @Override
    public void record(AuditEvent event) {
        try {
            FILE.info(json.writeValueAsString(event));
        } catch (JsonProcessingException problem) {
            throw new UncheckedIOException(problem);
        }
    }
}
