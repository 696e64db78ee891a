// Package grade finds out whether a server's answers are as often right under load as alone, and how accurate two runs are on the same questions.
//
// Rows of a dataset that tell what is right are asked alone, one at a time, before the first stage. In the stages they are the requests of the
// workload. The answers of a stage are compared with those got alone, question by question, so that it does not count which questions a
// stage has asked: the exact test of McNemar where each was asked once, and else that of Cochran, Mantel and Haenszel ([fidelity.Test]).
// Holm's procedure corrects for the number of stages.
//
// Requests that failed, and answers that were cut by their limit, are neither right nor wrong. They are counted apart.
package grade
