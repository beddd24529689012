package example.audit;

/** Who did what; `at` is ISO 8601 in UTC. */
public record AuditEvent(String user, String action, String at) {}
