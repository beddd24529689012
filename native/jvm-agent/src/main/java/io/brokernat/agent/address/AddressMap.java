package io.brokernat.agent.address;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The rules in their order: the first match wins, and a translated endpoint is not translated again. Counts how often
 * each rule is used, so that unused rules can be reported.
 *
 * <p>All code that runs before {@code main} uses no lambdas, streams or formats: their first use costs a JVM 20 ms or
 * more.
 */
public final class AddressMap {
    private final List<Rule> rules;
    private final Map<Rule, AtomicLong> uses = new IdentityHashMap<>();

    private AddressMap(List<Rule> rules) {
        this.rules = rules;
        for (Rule rule : rules) {
            uses.put(rule, new AtomicLong());
        }
    }

    /**
     * Parses rules that {@code ,} or line ends separate; {@code #} starts a comment up to the end of the line.
     *
     * @throws MapException with every wrong rule, at its line and column of the text
     */
    public static AddressMap parse(String text) throws MapException {
        List<Rule> rules = new ArrayList<>();
        List<NotationException> faults = new ArrayList<>();
        String[] lines = text.split("\r\n|\r|\n", -1);
        for (int number = 1; number <= lines.length; number++) {
            int start = 0;
            for (String entry : lines[number - 1].split("#", 2)[0].split(",", -1)) {
                String rule = RuleParser.strip(entry);
                try {
                    if (!rule.isEmpty()) {
                        rules.add(RuleParser.parse(rule));
                    }
                } catch (NotationException e) {
                    faults.add(e.at(number, start + entry.indexOf(rule) + 1, rule));
                }
                start += entry.length() + 1;
            }
        }
        if (!faults.isEmpty()) {
            // A template is valid notation, so the other faults come first.
            faults.sort(Comparator.comparing(fault -> fault.fault() == Fault.NEEDS_NODE_ID));
            throw new MapException(faults);
        }
        return new AddressMap(rules);
    }

    /** Whether a rule translates this host for at least one port. */
    public boolean knows(Host host) {
        for (Rule rule : rules) {
            if (rule.knows(host)) {
                return true;
            }
        }
        return false;
    }

    /** The endpoint to dial and the rule that produced it; null if no rule matches. */
    public Translation find(Endpoint endpoint) {
        for (Rule rule : rules) {
            if (rule.matches(endpoint)) {
                return new Translation(rule.translate(endpoint), rule);
            }
        }
        return null;
    }

    /** Like {@link #find}, for a connection: counts the use of the rule. */
    public Translation translate(Endpoint endpoint) {
        Translation translation = find(endpoint);
        if (translation != null) {
            uses.get(translation.rule).incrementAndGet();
        }
        return translation;
    }

    /** Each rule's canonical text, in order, and how often it was used; a duplicate rule is one entry. */
    public Map<String, Long> uses() {
        Map<String, Long> counts = new LinkedHashMap<>();
        rules.forEach(rule -> counts.merge(rule.toString(), uses.get(rule).get(), Long::sum));
        return counts;
    }

    /** The canonical text. It has no blanks, because Spark and JAVA_TOOL_OPTIONS split on them. */
    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(",");
        for (Rule rule : rules) {
            text.add(rule.toString());
        }
        return text.toString();
    }

    /** SHA-256 of the canonical text, 64 hexadecimal digits. */
    public String fingerprint() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(toString().getBytes(StandardCharsets.UTF_8));
            StringBuilder hex = new StringBuilder();
            for (byte value : digest) {
                hex.append(Character.forDigit(value >> 4 & 0xf, 16)).append(Character.forDigit(value & 0xf, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
