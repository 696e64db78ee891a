"use strict";
// choose ranks configurations as llmsweep choose does: data is what the page holds, wish what is asked for: demand, prices and the steps of the
// limits. It returns those that meet the demand, the best first.
function choose(data, wish) {
  var place = 0, ranked = [];
  data.terms.forEach(function (t, i) { place = place * t.values.length + wish.steps[i]; });
  data.setups.forEach(function (s, i) {
    var limit = s.limits[place], supply = limit && limit[0];
    if (!limit || !s.gpus || !(supply > 0)) { return; }
    var k = { setup: i, name: s.name, replicas: Math.ceil(wish.demand / (supply * (1 - data.headroom)) - 1e-9), hour: null };
    k.gpus = k.replicas * s.gpus;
    k.carries = k.replicas * supply;
    k.ttft = limit[1] === null ? Infinity : limit[1];
    if (data.maxGPUs > 0 && k.gpus > data.maxGPUs) { return; }
    if (s.price >= 0) { k.hour = k.gpus * wish.prices[s.price]; }
    ranked.push(k);
  });
  if (ranked.some(function (k) { return k.hour !== null; })) { ranked = ranked.filter(function (k) { return k.hour !== null; }); }
  return ranked.sort(function (a, b) {
    if (a.hour !== null && b.hour !== null && Math.abs(a.hour - b.hour) >= 1e-9) { return a.hour - b.hour; }
    return a.gpus - b.gpus || b.carries - a.carries || (a.ttft === b.ttft ? 0 : a.ttft - b.ttft);
  });
}
