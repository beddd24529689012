import java.io.FileInputStream;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Node;

/** Kafka's own client: prints the nodes that a client of this configuration is told, or why it is told none. */
class Nodes {
    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            properties.load(file);
        }
        try (Admin admin = Admin.create(properties)) {
            for (Node node : admin.describeCluster().nodes().get()) {
                System.out.println("node " + node.idString());
            }
        } catch (java.util.concurrent.ExecutionException failed) {
            for (Throwable each = failed; each != null; each = each.getCause()) {
                System.out.println(each);
            }
        }
    }
}
