"""Folders like those of `lab.benchmarks.traps`, first asked when all weights were fitted.

Eighteen of them showed that too much was accepted, and the line was lowered; fourteen (brassworks, croquet, herbalists,
icefishing, leatherwork, netball, puppets, quarry, ramblers, sauna, spinners, tabletennis, windband, youthhostel) were
asked after that.
"""
