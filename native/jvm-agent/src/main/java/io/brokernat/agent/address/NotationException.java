package io.brokernat.agent.address;

/** One fault of one text; the message ends with what to write instead. */
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

    /** The same fault, seen in the text that holds it. */
    NotationException at(int line, int column, String rule) {
        return new NotationException(this, "line " + line + ", column " + column + ", rule `" + rule + "`: ");
    }

    public Fault fault() {
        return fault;
    }
}
