// Renders openapi.json. Text is inserted as text nodes, never as markup.
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};

const kind = (schema, all) => {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const several = schema.anyOf || schema.oneOf;
  if (several) return several.map((one) => kind(one, all)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type || "any";
  return type === "array" && schema.items ? `list of ${kind(schema.items, all)}` : type;
};

const fields = (schema, all) => {
  const whole = schema.$ref ? all[schema.$ref.split("/").pop()] : schema;
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const title of ["Field", "Type", "Description"]) head.append(make("th", title));
  const body = table.createTBody();
  for (const [name, field] of Object.entries((whole && whole.properties) || {})) {
    const row = body.insertRow();
    const needed = ((whole.required || []).includes(name)) ? " *" : "";
    row.insertCell().append(make("code", name + needed));
    row.insertCell().textContent = kind(field, all);
    row.insertCell().textContent = field.description || "";
  }
  return table;
};

const call = (method, path, operation, all) => {
  const details = make("details");
  const summary = make("summary");
  summary.append(make("span", method, "method"), make("code", path), make("span", operation.summary));
  const inside = make("div", undefined, "inside");
  for (const parameter of operation.parameters || []) {
    const line = make("p");
    line.append(make("code", parameter.name), ` (${parameter.in}, ${kind(parameter.schema, all)}) ${parameter.description || ""}`);
    inside.append(line);
  }
  for (const [type, { schema }] of Object.entries((operation.requestBody || {}).content || {})) {
    inside.append(make("h4", `Request body: ${type}`), fields(schema, all));
  }
  for (const [status, answer] of Object.entries(operation.responses)) {
    const good = status.startsWith("2");
    const types = Object.entries(answer.content || {});
    inside.append(make("h4", `${status} ${good ? types.map(([type]) => type).join(", ") : answer.description}`));
    if (good) for (const [, { schema }] of types) if (schema) inside.append(make("p", kind(schema, all)), fields(schema, all));
  }
  details.append(summary, inside);
  return details;
};

const draw = async () => {
  const place = document.getElementById("calls");
  try {
    const description = await (await fetch("/openapi.json")).json();
    const all = description.components.schemas;
    const drawn = Object.entries(description.paths).flatMap(([path, calls]) =>
      Object.entries(calls).map(([method, operation]) => call(method, path, operation, all)));
    place.replaceChildren(...drawn, make("h2", "Types"));
    for (const name of Object.keys(all).sort()) {
      const details = make("details");
      const summary = make("summary");
      summary.append(make("code", name), make("span", all[name].description || ""));
      const inside = make("div", undefined, "inside");
      inside.append(fields(all[name], all), make("pre", JSON.stringify(all[name], null, 2)));
      details.append(summary, inside);
      place.append(details);
    }
  } catch (error) {
    place.replaceChildren(make("p", `Cannot read openapi.json: ${error}`));
  }
};
draw();
