// Answers of the real picomatch. Reads {patterns, names} from stdin, writes one line of JSON: its version, and for each
// pattern the names it matches as a hex number (bit i: names[i]), with its defaults and with the options that switch
// off what is not part of the contract. Used by record.py only: node record_picomatch.cjs FOLDER_OF_PICOMATCH
const { join } = require('node:path');
const folder = process.argv[2];
const picomatch = require(folder);
const { patterns, names } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const contract = { strictSlashes: true, noextglob: true, nonegate: true };

function mask(pattern, options) {
  const match = picomatch(pattern, options);
  let bits = 0n;
  names.forEach((name, at) => { if (match(name)) bits |= 1n << BigInt(at); });
  return bits.toString(16);
}

console.log(JSON.stringify({
  version: require(join(folder, 'package.json')).version,
  defaults: patterns.map(pattern => mask(pattern, {})),
  contract: patterns.map(pattern => mask(pattern, contract)),
}));
