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
6. astronomy, birdringers, carshare, cemeteryfriends, chessclub, fishermen, footpaths, gliders, housingcoop,
   lockkeepers, orchard, pantocompany, poolswimmers, potters, quizleague, steamlaunch, stringquartet, towncarnival,
   toyline, villagehall, woodturners: asked with what later documents say read twice, and nothing doubted only because
   much was written later (chosen with forty of the 69 before). Then, by what strict readers said of the accepted
   answers, the line for that was drawn, and three faults of tables were mended.
7. barnowls, bikekitchen, cricketpavilion, dancehall, gardenrailway, hillclimb, jigsaws, knitters, laundry,
   marrowshow, minerescue, paragliders, radiostation, seedbank, skiffbuilders, stampclub, tidemill, walkingfootball:
   asked with that line. Then a later document was looked for in an attempt without a query left too; three wrong
   answers and one outdated in part were of such.
8. bakery, banjos, bookbarge, cragclimbers, gokarts, hopkilns, lifeboat, pondkeepers, silversmiths, skittles,
   sledders, weavers: asked with all of that, and nothing was chosen by them.
"""
