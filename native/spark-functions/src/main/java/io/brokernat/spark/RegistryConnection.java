package io.brokernat.spark;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;

/**
 * A connection to a URL that is dialled at another address, as an address map says.
 *
 * <p>With TLS the certificate is checked for the URL's own host, and that name is sent (SNI): what stands at the address
 * only forwards. Java's client takes both from the URL that it dials, but leaves them to its socket factory.
 */
final class RegistryConnection extends SSLSocketFactory {
    private final SSLSocketFactory factory = HttpsURLConnection.getDefaultSSLSocketFactory();
    private final URL named;

    private RegistryConnection(URL named) {
        this.named = named;
    }

    /** @param address {@code host:port}; null for the URL's own. */
    static HttpURLConnection open(URL named, String address) throws IOException {
        if (address == null) {
            return (HttpURLConnection) named.openConnection();
        }
        URL dialled = URI.create(named.getProtocol() + "://" + address + named.getFile()).toURL();
        HttpURLConnection connection = (HttpURLConnection) dialled.openConnection();
        if (connection instanceof HttpsURLConnection) {
            ((HttpsURLConnection) connection).setSSLSocketFactory(new RegistryConnection(named));
        }
        return connection;
    }

    /** The one call of Java's client: TLS over a connection that it has made. */
    @Override
    public Socket createSocket(Socket connected, String host, int port, boolean autoClose) throws IOException {
        int namedPort = named.getPort() < 0 ? named.getDefaultPort() : named.getPort();
        return factory.createSocket(connected, named.getHost(), namedPort, autoClose);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return factory.createSocket(host, port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
        return factory.createSocket(host, port, local, localPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return factory.createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
        return factory.createSocket(host, port, local, localPort);
    }

    @Override
    public String[] getDefaultCipherSuites() {
        return factory.getDefaultCipherSuites();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return factory.getSupportedCipherSuites();
    }
}
