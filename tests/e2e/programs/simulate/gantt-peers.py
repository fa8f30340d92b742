import json, subprocess, sys, xml.etree.ElementTree as et
ns = "{http://www.w3.org/2000/svg}"
svg = et.parse("p.svg").getroot()
texts = [t.text for t in svg.iter(ns + "text")]
assert "a peers" in texts and "b peers" in texts
titles = [t.text for t in svg.iter(ns + "title")]
sent = [t for t in titles if t.startswith("copy to ")]
out = json.loads(subprocess.check_output([sys.argv[1], "simulate", "graph.df", "--platform=pair.df", "--policy=dmda", "--format=json"]))
assert len(sent) == out["policies"][0]["peer_copies"] and {t.split(",")[0] for t in sent} <= {"copy to a", "copy to b"}, sent
