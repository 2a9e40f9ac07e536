/** The forms of Kysely's expressions, and values in the forms of the expressions that they stand beside. */
import {
  AggregateFunctionNode,
  AndNode,
  CaseNode,
  ColumnNode,
  type FunctionNode,
  type OperationNode,
  ParensNode,
  PrimitiveValueListNode,
  ReferenceNode,
  TupleNode,
  ValueListNode,
  ValueNode,
  type WhenNode,
} from "kysely";
import type { Form } from "./forms.js";

/** A form of any ID: no wider type fits all functions of one parameter. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type AnyForm = Form<any, unknown>;

/** The form of an expression; for a tuple, the form of each element; undefined for an expression without a known column. */
type Forms = AnyForm | readonly Forms[] | undefined;

/** Functions whose result has the type of their arguments. */
const KEEPING = ["any", "any_value", "coalesce", "greatest", "ifnull", "least", "max", "min", "nullif", "some"];

/** Finds the forms of expressions, and converts values to them. */
export class Operands {
  readonly #forms: ReadonlyMap<string, AnyForm>;

  /** Operands of queries over columns of these names. */
  constructor(forms: ReadonlyMap<string, AnyForm>) {
    this.#forms = forms;
  }

  /** The form of an expression. */
  formOf(node: OperationNode): Forms {
    if (ReferenceNode.is(node)) return this.formOf(node.column);
    if (ColumnNode.is(node)) return this.#forms.get(node.column.name);
    if (ParensNode.is(node)) return this.formOf(node.node);
    if (TupleNode.is(node)) return node.values.map((value) => this.formOf(value));
    return this.#formAmong(partsOf(node));
  }

  /** The form of the first expression that has one. */
  #formAmong(nodes: readonly OperationNode[]): Forms {
    return nodes.map((node) => this.formOf(node)).find((form) => form !== undefined);
  }

  /** An expression with its values in the form of the columns in it. */
  converted<Node extends OperationNode>(node: Node): Node {
    return withParts(node, (part) => this.stored(part, this.formOf(node)));
  }

  /** The conditions of `case column when value`, with their values in the form of the column. */
  conditions(node: CaseNode): CaseNode {
    const form = node.value && this.formOf(node.value);
    const converted = (when: WhenNode): WhenNode => ({ ...when, condition: this.stored(when.condition, form) });
    return node.when ? { ...node, when: node.when.map(converted) } : node;
  }

  /** An expression with its values in a form; an expression that has a form of its own was converted before. */
  stored(node: OperationNode, form: Forms): OperationNode {
    if (form === undefined) return node;
    const inside = (part: OperationNode): OperationNode => this.stored(part, form);
    if (TupleNode.is(node))
      return isList(form) ? TupleNode.create(node.values.map((value, k) => this.stored(value, form[k]))) : node;
    if (ValueListNode.is(node)) return ValueListNode.create(node.values.map(inside));
    if (AndNode.is(node)) return AndNode.create(inside(node.left), inside(node.right));
    if (ParensNode.is(node)) return ParensNode.create(inside(node.node));
    if (isList(form)) return node;
    if (ValueNode.is(node)) return { ...node, value: storedValue(node.value, form) } as OperationNode;
    if (PrimitiveValueListNode.is(node)) return PrimitiveValueListNode.create(node.values.map((id) => form.to(id)));
    return this.formOf(node) === undefined ? withParts(node, inside) : node;
  }
}

function isList(form: Forms): form is readonly Forms[] {
  return Array.isArray(form);
}

/** A value in a form; of an array, as `any` takes it, each element. */
function storedValue(value: unknown, form: AnyForm): unknown {
  return Array.isArray(value) ? value.map((id) => form.to(id)) : form.to(value);
}

/** Returns whether a node is a function; the oldest supported Kysely does not export the object that says so. */
function isFunction(node: OperationNode): node is FunctionNode {
  return node.kind === "FunctionNode";
}

/** The parts of an expression that have the type of the whole. */
function partsOf(node: OperationNode): readonly OperationNode[] {
  const parts: OperationNode[] = [];
  withParts(node, (part) => (parts.push(part), part));
  return parts;
}

/** An expression with other nodes in place of the parts that have the type of the whole. */
function withParts<Node extends OperationNode>(node: Node, other: (part: OperationNode) => OperationNode): Node {
  const keeps = (func: string): boolean => KEEPING.includes(func.toLowerCase());
  const given: OperationNode = node;
  if (isFunction(given)) return keeps(given.func) ? { ...node, arguments: given.arguments.map(other) } : node;
  if (AggregateFunctionNode.is(given))
    return keeps(given.func) ? { ...node, aggregated: given.aggregated.map(other) } : node;
  if (!CaseNode.is(given)) return node;
  const results = (when: WhenNode): WhenNode => (when.result ? { ...when, result: other(when.result) } : when);
  return {
    ...node,
    ...(given.when ? { when: given.when.map(results) } : {}),
    ...(given.else ? { else: other(given.else) } : {}),
  };
}
