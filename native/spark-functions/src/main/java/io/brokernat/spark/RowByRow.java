package io.brokernat.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Applies a transform of projections and filters to all records, not only to those without a fault.
 *
 * <p>A pipeline gives the transform the records without a fault, and the result does not have the rows that it drops.
 * With a separate frame of dead letters, Spark would read and decode the source a second time. So this class builds a
 * new plan: it drops no row, a column marks the kept rows, and the transform's expressions are computed only for these.
 */
public final class RowByRow {
    private final LogicalPlan records;
    private final LogicalPlan faultless;
    private final String fault;
    private final String value;
    private final String kept;

    private RowByRow(LogicalPlan records, LogicalPlan faultless, String fault, String value, String kept) {
        this.records = records;
        this.faultless = faultless;
        this.fault = fault;
        this.value = value;
        this.kept = kept;
    }

    /**
     * The transform's plan over all records.
     *
     * @param records analysed, with a column {@code fault}, null if a record has no fault, and a column {@code value}.
     * @param faultless the records without a fault, as the transform got them.
     * @param transformed the transform's result, analysed.
     * @param kept the name of the BOOLEAN column to add: true if the row is one of {@code transformed}.
     * @return a plan with the columns of {@code transformed}, {@code fault}, {@code value} and {@code kept}, a row per
     *     record. Null if the transform has other operators than projections and filters, or a Python function, which
     *     Spark would also call for the rows that are not kept. Null with Scala 2.12 (Spark 3.5), which has other
     *     collection classes.
     */
    public static LogicalPlan over(
            LogicalPlan records, LogicalPlan faultless, LogicalPlan transformed, String fault, String value, String kept) {
        try {
            return new RowByRow(records, faultless, fault, value, kept).over(transformed);
        } catch (LinkageError scala212) {
            return null;
        }
    }

    private LogicalPlan over(LogicalPlan node) {
        if (node.fastEquals(faultless)) {
            List<NamedExpression> columns = attributes(records);
            columns.add(named(new IsNull(attribute(records, fault))));
            return project(columns, records);
        }
        if (node instanceof SubqueryAlias) {
            return over(((SubqueryAlias) node).child());
        }
        boolean isProject = node instanceof Project;
        if (!isProject && !(node instanceof Filter)) {
            return null;
        }
        LogicalPlan below = over(node.children().head());
        if (below == null || node.expressions().exists(RowByRow::isPython)) {
            return null;
        }
        return isProject ? projected((Project) node, below) : marked((Filter) node, below);
    }

    private LogicalPlan projected(Project node, LogicalPlan below) {
        Attribute isKept = attribute(below, kept);
        List<NamedExpression> columns = new ArrayList<>();
        for (NamedExpression column : CollectionConverters.asJava(node.projectList())) {
            if (column instanceof Alias) {
                Expression child = ((Alias) column).child();
                Expression guarded = new If(isKept, child, new Literal(null, child.dataType()));
                columns.add((NamedExpression) ((Alias) column).withNewChildren(seq(List.of(guarded))));
            } else {
                columns.add(column);
            }
        }
        columns.add(attribute(below, fault));
        columns.add(attribute(below, value));
        columns.add(isKept);
        return project(columns, below);
    }

    private LogicalPlan marked(Filter node, LogicalPlan below) {
        Expression no = new Literal(false, DataTypes.BooleanType);
        Expression passes = new Coalesce(seq(List.of(node.condition(), no)));
        List<NamedExpression> columns = attributes(below);
        columns.removeIf(column -> column.name().equals(kept));
        columns.add(named(new If(attribute(below, kept), passes, no)));
        return project(columns, below);
    }

    private NamedExpression named(Expression isKept) {
        return new Alias(isKept, kept, NamedExpression.newExprId(), seq(List.of()), scala.Option.empty(), seq(List.of()));
    }

    private static boolean isPython(Expression expression) {
        return expression.containsPattern(TreePattern.PYTHON_UDF());
    }

    private static List<NamedExpression> attributes(LogicalPlan plan) {
        return new ArrayList<>(CollectionConverters.asJava(plan.output()));
    }

    private static Attribute attribute(LogicalPlan plan, String name) {
        return plan.output().find(column -> column.name().equals(name)).get();
    }

    private static LogicalPlan project(List<NamedExpression> columns, LogicalPlan below) {
        return new Project(seq(columns), below);
    }

    private static <T> Seq<T> seq(List<T> elements) {
        return CollectionConverters.asScala(elements).toList();
    }
}
