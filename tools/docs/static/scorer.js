// How the search ranks its results: a symbol whose whole name was asked for
// comes first, and the parameters of functions come last.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    (description || "").startsWith("C function parameter") ? -1 : score,
  objNameMatch: 200,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
