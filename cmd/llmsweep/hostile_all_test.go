//go:build statistics

package main

// everyHostileText is whether TestHostileNames tries all texts one by one.
const everyHostileText = true
