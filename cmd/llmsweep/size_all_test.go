//go:build statistics

package main

// fullDisks is the number of places at which TestAFullDisk lets a disk be full.
const fullDisks = 100

// everyHostileText is whether TestHostileNames tries all texts one by one.
const everyHostileText = true

// contaminatedSweeps is the number of pairs of sweeps, clean and contaminated, of TestContaminatedSweeps.
const contaminatedSweeps = 100
