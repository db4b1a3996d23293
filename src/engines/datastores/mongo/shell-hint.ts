/** What a line of the Mongo shell is called as a command. `$` stands for the collection, `…` for what was between the brackets. */
const COMMANDS: Record<string, string> = {
  find: '{"find": "$", "filter": …, "limit": 10}',
  findOne: '{"find": "$", "filter": …, "limit": 1}',
  aggregate: '{"aggregate": "$", "pipeline": …}',
  count: '{"count": "$", "query": …}',
  countDocuments: '{"count": "$", "query": …}',
  estimatedDocumentCount: '{"count": "$"}',
  distinct: '{"distinct": "$", "key": "field", "query": {}}',
  insertOne: '{"insert": "$", "documents": [{}]}',
  insertMany: '{"insert": "$", "documents": [{}]}',
  updateOne: '{"update": "$", "updates": [{"q": {}, "u": {"$set": {}}}]}',
  updateMany: '{"update": "$", "updates": [{"q": {}, "u": {"$set": {}}, "multi": true}]}',
  deleteOne: '{"delete": "$", "deletes": [{"q": {}, "limit": 1}]}',
  deleteMany: '{"delete": "$", "deletes": [{"q": {}, "limit": 0}]}',
  findOneAndUpdate: '{"findAndModify": "$", "query": {}, "update": {"$set": {}}}',
  createIndex: '{"createIndexes": "$", "indexes": [{"key": {"field": 1}, "name": "field_1"}]}',
  getIndexes: '{"listIndexes": "$"}',
  drop: '{"drop": "$"}',
};
const MAX_SHOWN = 200;

/** How to write a line of the Mongo shell (`db.users.find({…})`, `show collections`) as a command; undefined for anything else. */
export const shellHint = (text: string): string | undefined => {
  if (/^(?:show|use)\s/.test(text))
    return 'list the collections with {"listCollections": 1}; another database is {…, "$db": "name"}';
  if (!/^db\s*[.[]/.test(text)) return undefined;
  const call = /^db\s*\.\s*(?<collection>[^()\s]+?)\s*\.\s*(?<method>\w+)\s*\((?<inside>[^]*?)\)?\s*;?$/.exec(
    text,
  )?.groups;
  const template = call === undefined ? undefined : commandFor(call['method'] ?? '');
  if (call === undefined || template === undefined) {
    return 'write one command as JSON, such as {"find": "users", "filter": {}, "limit": 10}';
  }
  const inside = (call['inside'] ?? '').trim();
  const argument = /^[{[]/.test(inside) && inside.length <= MAX_SHOWN ? inside : '{}';
  return `as a command: ${template.replace('"$"', () => JSON.stringify(call['collection'])).replace('…', () => argument)}`;
};

const commandFor = (method: string): string | undefined =>
  Object.hasOwn(COMMANDS, method) ? COMMANDS[method] : undefined;
