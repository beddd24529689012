package io.brokernat.agent.proof;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.junit.jupiter.api.Test;

class KafkaQueriesTest {
    /** A future's own time-out has no message, and a report would print "null". */
    @Test
    void aTimeOutSaysHowLongNobodyAnswered() {
        KafkaFutureImpl<String> never = new KafkaFutureImpl<>() {
            @Override
            public String get(long timeout, TimeUnit unit) throws TimeoutException {
                throw new TimeoutException();
            }
        };
        Throwable cause = assertThrows(ExecutionException.class, () -> KafkaQueries.get(never)).getCause();
        assertInstanceOf(org.apache.kafka.common.errors.TimeoutException.class, cause);
        assertEquals("no answer within 5500 ms", cause.getMessage());
    }
}
