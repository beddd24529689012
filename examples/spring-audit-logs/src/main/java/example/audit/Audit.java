package example.audit;

/** Where audit events go. */
public interface Audit {
    void record(AuditEvent event);
}
