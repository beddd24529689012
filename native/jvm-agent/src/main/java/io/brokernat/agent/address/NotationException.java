package io.brokernat.agent.address;

/** One fault of a text; the message ends with the hint of its kind. */
public final class NotationException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Fault fault;

    NotationException(Fault fault, String message, String hint) {
        super(message + "; " + hint);
        this.fault = fault;
    }

    private NotationException(NotationException cause, String place) {
        super(place + cause.getMessage(), cause);
        this.fault = cause.fault;
    }

    /** The same fault with its position in the map's text. */
    NotationException at(int line, int column, String rule) {
        return new NotationException(this, "line " + line + ", column " + column + ", rule `" + rule + "`: ");
    }

    public Fault fault() {
        return fault;
    }
}
