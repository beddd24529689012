package io.brokernat.agent;

import io.brokernat.agent.address.Endpoint;
import io.brokernat.agent.address.Host;
import io.brokernat.agent.address.NotationException;
import io.brokernat.agent.address.Translation;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The address that a client dials. It keeps the original host as its name, because TLS (SNI, host name verification)
 * and SASL read the name from it.
 */
final class Dialler {
    private final Maps maps;
    private final Names names;
    private final Log log;

    Dialler(Maps maps, Names names, Log log) {
        this.maps = maps;
        this.names = names;
        this.log = log;
    }

    /**
     * @param channelBuilder identifies the client
     * @param connectionId the node's id in the form of Kafka's network layer; only its sign is used
     * @throws ConnectException if the map refuses the endpoint; NetworkClient handles it as a failed connect
     */
    InetSocketAddress dial(InetSocketAddress address, Object channelBuilder, String connectionId)
            throws ConnectException, UnknownHostException {
        Client client = maps.clientOf(channelBuilder);
        if (client == null || client.map == null) {
            return unchanged(address);
        }
        Endpoint endpoint = new Endpoint(Host.of(address.getHostString()), address.getPort());
        if (client.map.problem != null) {
            String whose = client.map.origin == null ? client.name : client.map.origin;
            throw refusal(channelBuilder, client.map.problem, "refused: the address map of " + whose + " cannot be used: " + client.map.problem);
        }
        Translation translation = client.map.map.translate(endpoint);
        if (translation != null) {
            log.infoOnce(channelBuilder, List.of(endpoint, translation.rule), () -> "translated " + endpoint + " -> " + translation.endpoint
                    + " (rule " + translation.rule + ", " + client.name + ")");
            return reachable(address.getHostString(), translation);
        }
        if (client.map.unmapped == Unmapped.FAIL && !client.bootstraps(connectionId, address, endpoint)) {
            throw refusal(channelBuilder, endpoint, "refused: " + endpoint + " has no rule in the address map of " + client.name
                    + "; add \"" + endpoint + " = REACHABLE:" + endpoint.port() + "\" or set brokernat.unmapped=pass");
        }
        return unchanged(address);
    }

    private ConnectException refusal(Object channelBuilder, Object event, String words) {
        log.warnOnce(channelBuilder, event, () -> words);
        return new ConnectException(words);
    }

    /** The endpoint to dial for an advertised endpoint, or "" if it is refused. */
    String plan(Client client, String advertised) {
        Endpoint endpoint;
        try {
            endpoint = Endpoint.parse(advertised);
        } catch (NotationException e) {
            return advertised;
        }
        if (client.map == null) {
            return endpoint.toString();
        }
        Translation translation = client.map.problem == null ? client.map.map.find(endpoint) : null;
        if (translation != null) {
            return translation.endpoint.toString();
        }
        boolean passes = client.map.problem == null && (client.map.unmapped == Unmapped.PASS || client.bootstraps(endpoint));
        return passes ? endpoint.toString() : "";
    }

    private InetSocketAddress reachable(String originalHost, Translation translation) throws UnknownHostException {
        Host target = translation.endpoint.host();
        byte[] ip;
        if (target.isAddress()) {
            ip = target.address();
        } else {
            try {
                ip = names.next(target.toString()).getAddress();
            } catch (UnknownHostException e) {
                throw new UnknownHostException(target + " is not known here; it is dialled for " + originalHost + " by the rule " + translation.rule);
            }
        }
        return new InetSocketAddress(InetAddress.getByAddress(originalHost, ip), translation.endpoint.port());
    }

    /** Resolves a placeholder that no rule of this client replaces. */
    private InetSocketAddress unchanged(InetSocketAddress address) throws UnknownHostException {
        return Names.isPlaceholder(address)
                ? new InetSocketAddress(names.next(address.getHostString()), address.getPort())
                : address;
    }
}
