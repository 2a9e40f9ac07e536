/**
 * A plugin for Kysely: programs have IDs, and columns hold them in any form.
 *
 * ```js
 * import { IdPlugin, int64, snoUuid8 } from "polyflake/kysely";
 *
 * const ids = new IdPlugin({ id: snoUuid8, buyer: snoUuid8, flake: int64 });
 * const db = new Kysely({ dialect, plugins: [ids] });
 * const { lowest, highest } = sno.timeRange(start, end);
 * await db.selectFrom("orders").selectAll().where((eb) => eb.between("id", lowest, highest)).execute();
 * ```
 *
 * @module
 */
import {
  type AggregateFunctionNode,
  type BinaryOperationNode,
  type CaseNode,
  type ColumnUpdateNode,
  type FunctionNode,
  type InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  PrimitiveValueListNode,
  ValueListNode,
  ValuesNode,
} from "kysely";
import { type AnyForm, Operands } from "./kysely-operands.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export * from "./forms.js";

/**
 * Converts the IDs in queries to the forms of their columns, and what is read to IDs.
 *
 * It knows columns by their names, in all tables: where a name means different things, give each table's queries a plugin of
 * their own by `db.withPlugin`. IDs are converted where they are compared with a column, inserted and set; in results under the
 * column's name. A comparison may hold lists, tuples, `between`, `any` of an array, `case`, `coalesce` and other functions that
 * keep the type of their arguments.
 *
 * Not converted: values beside other functions, in a cast, in raw SQL and in `eb.val` alone; results under other names, and in JSON
 * that the database makes. Convert those by a form's `to` and `from`.
 */
export class IdPlugin implements KyselyPlugin {
  readonly #forms: ReadonlyMap<string, AnyForm>;
  readonly #queries: Queries;

  /** A plugin for columns of these names. */
  constructor(forms: Readonly<Record<string, AnyForm>>) {
    this.#forms = new Map(Object.entries(forms));
    this.#queries = new Queries(this.#forms);
  }

  /** Converts the IDs of a query. Kysely calls it. */
  transformQuery({ node }: Parameters<KyselyPlugin["transformQuery"]>[0]): ReturnType<KyselyPlugin["transformQuery"]> {
    return this.#queries.transformNode(node);
  }

  /** Converts the columns of the rows that were read. Kysely calls it. */
  async transformResult({
    result,
  }: Parameters<KyselyPlugin["transformResult"]>[0]): ReturnType<KyselyPlugin["transformResult"]> {
    const read = ([name, value]: [string, unknown]) => [name, this.#forms.get(name)?.from(value) ?? value];
    return { ...result, rows: result.rows?.map((row) => Object.fromEntries(Object.entries(row).map(read))) };
  }
}

/** Converts the values that are compared with columns, inserted or set. */
class Queries extends OperationNodeTransformer {
  readonly #operands: Operands;

  constructor(forms: ReadonlyMap<string, AnyForm>) {
    super();
    this.#operands = new Operands(forms);
  }

  protected override transformBinaryOperation(given: BinaryOperationNode): BinaryOperationNode {
    const node = super.transformBinaryOperation(given);
    const { leftOperand, rightOperand } = node;
    const beside = (operand: OperationNode, other: OperationNode): OperationNode =>
      this.#operands.stored(operand, this.#operands.formOf(other));
    return {
      ...node,
      leftOperand: beside(leftOperand, rightOperand),
      rightOperand: beside(rightOperand, leftOperand),
    };
  }

  protected override transformFunction(given: FunctionNode): FunctionNode {
    return this.#operands.converted(super.transformFunction(given));
  }

  protected override transformAggregateFunction(given: AggregateFunctionNode): AggregateFunctionNode {
    return this.#operands.converted(super.transformAggregateFunction(given));
  }

  protected override transformCase(given: CaseNode): CaseNode {
    return this.#operands.converted(this.#operands.conditions(super.transformCase(given)));
  }

  protected override transformColumnUpdate(given: ColumnUpdateNode): ColumnUpdateNode {
    const node = super.transformColumnUpdate(given);
    return { ...node, value: this.#operands.stored(node.value, this.#operands.formOf(node.column)) };
  }

  protected override transformInsertQuery(given: InsertQueryNode): InsertQueryNode {
    const node = super.transformInsertQuery(given);
    const { columns, values } = node;
    if (!columns || !values || !ValuesNode.is(values)) return node;
    const forms = columns.map((column) => this.#operands.formOf(column) as AnyForm | undefined);
    return { ...node, values: ValuesNode.create(values.values.map((row) => this.#storedInRow(row, forms))) };
  }

  /** A row of an insert with its values in the forms of their columns. */
  #storedInRow(given: PrimitiveValueListNode | ValueListNode, forms: readonly (AnyForm | undefined)[]) {
    if (PrimitiveValueListNode.is(given))
      return PrimitiveValueListNode.create(given.values.map((id, k) => forms[k]?.to(id) ?? id));
    return ValueListNode.create(given.values.map((node, k) => this.#operands.stored(node, forms[k])));
  }
}
