"""Folders like those of `lab.benchmarks.traps`, from which no network learned, in the order in which they were asked.

84 folders were here before; their mistakes are what `lab.training.quotations.folders` holds now: the second reading
learned from them.

1. almshouse, coppice, discjockeys, gleaners, kitefestival, samba, skipatrol, tramshed. Then a figure was accepted only
   where its table was nearest to the question.
2. fellrunners, oystershed, peatbog, pigclub, plantswap, ringers, sundayleague, twinning. Then the second reading
   learned from the 84, and its weight and the line were chosen by these sixteen.
3. bagpipes, boules, charcoal, communityfridge, cornmill, darts, fiddlers, floodwardens, gospelchoir, hedgelaying,
   hovercraft, marchingband, mudlarks, narrowgauge, punting, raptors, sheepdogs, soapbox, springwater, taichi, timebank,
   trampoline, vespaclub, walledgarden: asked with that line, and nothing was chosen by them. Then a row "All" was a
   total of its table.
4. The others. Then answers from several documents, and those on which much was written later, were doubted: how much,
   was chosen with all 64 in sight.
5. badgerwatch, bellydance, bookbinders, canoecamp, windmill: asked with that, and nothing was chosen by them.
"""
