package io.brokernat.spark;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.execution.joins.HashedRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Finds the row of a table by its key, like a broadcast join, but keeps the table between the query's batches.
 *
 * <p>For each batch of a stream, Spark builds the table of a join again. This table is also Spark's, but is built once
 * for each version of a reference.
 */
public final class LookupFunction implements UnboundFunction, ScalarFunction<InternalRow> {
    private static final long serialVersionUID = 1;
    private static final Map<String, WeakReference<LookupFunction>> HELD = new ConcurrentHashMap<>();
    private static final int FOUND = 1;

    private final String table;
    private final Broadcast<HashedRelation> relation;
    private final StructType columns;
    private DataType keyType;
    private transient HashedRelation rows;
    private transient UnsafeRowWriter key;

    private LookupFunction(String table, Broadcast<HashedRelation> relation, StructType columns) {
        this.table = table;
        this.relation = relation;
        this.columns = columns;
    }

    /**
     * Registers a table by name for functions of this driver, as long as the returned object is referenced. After that,
     * Spark removes the table when no query uses it.
     *
     * @param relation with rows of a key (STRING or BIGINT) and a struct; one row per key.
     * @param columns of the struct, as JSON.
     */
    public static LookupFunction hold(String table, Broadcast<HashedRelation> relation, String columns) {
        HELD.values().removeIf(each -> each.get() == null);
        LookupFunction held = new LookupFunction(table, relation, (StructType) DataType.fromJson(columns));
        HELD.put(table, new WeakReference<>(held));
        return held;
    }

    /** The function of a table; null if no table has this name. */
    static LookupFunction of(String table) {
        WeakReference<LookupFunction> known = HELD.get(table);
        LookupFunction held = known == null ? null : known.get();
        return held == null ? null : new LookupFunction(table, held.relation, held.columns);
    }

    /** Spark calls a method of this name (ScalarFunction.MAGIC_METHOD_NAME). */
    public InternalRow invoke(UTF8String text) {
        if (text == null) {
            return null;
        }
        HashedRelation found = rows();
        key.reset();
        key.write(0, text);
        return struct(found.getValue(key.getRow()));
    }

    /** The same for BIGINT keys. */
    public InternalRow invoke(long number) {
        return struct(rows().getValue(number));
    }

    private InternalRow struct(InternalRow row) {
        return row == null ? null : row.getStruct(FOUND, columns.length());
    }

    private HashedRelation rows() {
        // A task has its own copy, but the driver's is shared: creating a second copy is harmless.
        HashedRelation ready = rows;
        if (ready == null) {
            key = new UnsafeRowWriter(1, 64);
            key.zeroOutNullBytes();
            rows = ready = relation.value().asReadOnlyCopy();
        }
        return ready;
    }

    @Override
    public BoundFunction bind(StructType arguments) {
        keyType = arguments.length() == 1 ? arguments.fields()[0].dataType() : null;
        if (!(keyType instanceof StringType || keyType instanceof LongType)) {
            throw new UnsupportedOperationException("lookup takes a STRING or a BIGINT, not " + arguments.simpleString());
        }
        return this;
    }

    @Override
    public DataType[] inputTypes() {
        return new DataType[] {keyType instanceof LongType ? DataTypes.LongType : DataTypes.StringType};
    }

    @Override
    public DataType resultType() {
        return columns;
    }

    @Override
    public String name() {
        return "lookup";
    }

    @Override
    public String canonicalName() {
        return "brokernat.lookup(" + table + ")";
    }

    @Override
    public String description() {
        return "lookup(key): the row of a table";
    }
}
