"""Folders like those of `lab.benchmarks.traps`, on which no weight is fitted, in the order in which they were asked.

1. Eighteen, all that are not named below: too much was accepted, and the line was lowered.
2. brassworks, croquet, herbalists, icefishing, leatherwork, netball, puppets, quarry, ramblers, sauna, spinners,
   tabletennis, windband, youthhostel. Then more later sentences were read.
3. arboretum, basketry, bonsai, bookbus, cadets, canaltrust, chapel, cidermakers, crazygolf, curling, donkeys,
   juniorrugby. Then later sentences counted twice.
4. lacrosse, mosaic, nightshelter, pantomime, parkrun, ropewalk, savingsclub, steamfair, streetpastors, surfclub,
   toylibrary, vineyard. Then figures over all rows had to be of what is counted, and the line was lowered again.
5. astronomers, bikepolo, clockmuseum, drystone, harbourshop, hopgarden, iceskaters, longboat, memorycafe, seaswimmers,
   signlanguage, villagepantry; barbershop, cavers, flyball, heathwardens, jamkitchen, lacemakers, paperboats,
   pilgrimhostel, reenactors, rollerderby, shepherds, snooker, streetorgan, tugofwar, warmroom, wormery. Then a year of
   the question had to stand in the quotation.
6. almshouse, coppice, discjockeys, gleaners, kitefestival, samba, skipatrol, tramshed. Then a figure was accepted only
   where its table was nearest to the question.
7. fellrunners, oystershed, peatbog, pigclub, plantswap, ringers, sundayleague, twinning. Then the line went back up.
"""
