package io.brokernat.agent;

/** The objects of the running agent, created once. */
final class Services {
    final Log log = new Log();
    final Maps maps;
    final Names names;
    final Dialler dialler;

    Services(MapInForce global) {
        this.maps = new Maps(global);
        this.names = new Names(maps);
        this.dialler = new Dialler(maps, names, log);
    }
}
