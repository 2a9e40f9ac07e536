/**
 * A plugin for Kysely: programs have IDs, whatever form columns hold them in.
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
  AndNode,
  type BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  type InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  PrimitiveValueListNode,
  ReferenceNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from "kysely";
import type { Form } from "./forms.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export * from "./forms.js";

/** A form of whatever IDs: no wider type fits all functions of one parameter. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
type AnyForm = Form<any, unknown>;

/**
 * Converts the IDs in queries to the forms of their columns, and what is read to IDs.
 *
 * It knows columns by their names, in all tables: where a name means different things, give each table's queries a plugin of
 * their own by `db.withPlugin`. IDs are converted where they are compared with a column (also in lists and by `between`), inserted
 * and set; in results under the column's name. In raw SQL and in JSON that the database makes, convert by a form's `to` and `from`.
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
  readonly #forms: ReadonlyMap<string, AnyForm>;

  constructor(forms: ReadonlyMap<string, AnyForm>) {
    super();
    this.#forms = forms;
  }

  protected override transformBinaryOperation(given: BinaryOperationNode): BinaryOperationNode {
    const node = super.transformBinaryOperation(given);
    const { leftOperand, rightOperand } = node;
    return {
      ...node,
      leftOperand: stored(leftOperand, this.#formOf(rightOperand)),
      rightOperand: stored(rightOperand, this.#formOf(leftOperand)),
    };
  }

  protected override transformColumnUpdate(given: ColumnUpdateNode): ColumnUpdateNode {
    const node = super.transformColumnUpdate(given);
    return { ...node, value: stored(node.value, this.#formOf(node.column)) };
  }

  protected override transformInsertQuery(given: InsertQueryNode): InsertQueryNode {
    const node = super.transformInsertQuery(given);
    const { columns, values } = node;
    if (!columns || !values || !ValuesNode.is(values)) return node;
    const forms = columns.map((column) => this.#formOf(column));
    return { ...node, values: ValuesNode.create(values.values.map((row) => storedInRow(row, forms))) };
  }

  /** The form of a column; undefined for other operands. */
  #formOf(operand: OperationNode): AnyForm | undefined {
    const column = ReferenceNode.is(operand) ? operand.column : operand;
    return ColumnNode.is(column) ? this.#forms.get(column.column.name) : undefined;
  }
}

/** An operand with its values in the form of the column that they are compared with. */
function stored(operand: OperationNode, form: AnyForm | undefined): OperationNode {
  if (!form) return operand;
  const inside = (node: OperationNode): OperationNode => stored(node, form);
  if (ValueNode.is(operand)) return { ...operand, value: form.to(operand.value) } as OperationNode;
  if (PrimitiveValueListNode.is(operand)) return PrimitiveValueListNode.create(operand.values.map((id) => form.to(id)));
  if (ValueListNode.is(operand)) return ValueListNode.create(operand.values.map(inside));
  if (AndNode.is(operand)) return AndNode.create(inside(operand.left), inside(operand.right));
  return operand;
}

/** A row of an insert with its values in the forms of their columns. */
function storedInRow(row: PrimitiveValueListNode | ValueListNode, forms: readonly (AnyForm | undefined)[]) {
  if (PrimitiveValueListNode.is(row))
    return PrimitiveValueListNode.create(row.values.map((id, k) => forms[k]?.to(id) ?? id));
  return ValueListNode.create(row.values.map((node, k) => stored(node, forms[k])));
}
