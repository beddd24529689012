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
 * Connects to a URL at another address, for an address map.
 *
 * <p>With TLS the certificate is verified for the URL's own host, and SNI sends that name, because the server at the
 * address only forwards. Java's client takes both from the URL that it dials, but its socket factory can replace them.
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

    /** The only method that Java's client calls: TLS over its open connection. */
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
