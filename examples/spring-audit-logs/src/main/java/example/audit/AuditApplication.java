package example.audit;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Instant;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Stands for the production service: every line `USER ACTION` of its input is something that has to be audited. */
@SpringBootApplication
public class AuditApplication {
    public static void main(String[] arguments) {
        // Closing sends what is under way, or reports it as failed.
        SpringApplication.run(AuditApplication.class, arguments).close();
    }

    @Bean
    CommandLineRunner work(Audit audit) {
        return arguments -> {
            var lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", 2);
                audit.record(new AuditEvent(words[0], words.length > 1 ? words[1] : "", Instant.now().toString()));
            }
        };
    }
}
