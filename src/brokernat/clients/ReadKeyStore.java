import java.io.FileInputStream;
import java.io.InputStream;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.Collections;

/**
 * Prints the first key of a key store and its certificates as PEM, for the doctor's own handshake.
 *
 * <p>Started from its source by stores.py: a key store is opened by what Java has for it, and a private key leaves
 * through a pipe, never through a file. The passwords come by the environment, because everybody sees arguments.
 */
class ReadKeyStore {
    public static void main(String[] arguments) throws Exception {
        char[] storePassword = System.getenv("STORE_PASSWORD").toCharArray();
        KeyStore store = KeyStore.getInstance(arguments[1]);
        try (InputStream file = new FileInputStream(arguments[0])) {
            store.load(file, storePassword);
        }
        for (String alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                Key key = store.getKey(alias, System.getenv("KEY_PASSWORD").toCharArray());
                print("PRIVATE KEY", key.getEncoded());
                for (Certificate certificate : store.getCertificateChain(alias)) {
                    print("CERTIFICATE", certificate.getEncoded());
                }
                return;
            }
        }
        throw new IllegalArgumentException("no key in it");
    }

    private static void print(String what, byte[] content) {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        System.out.println("-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----");
    }
}
