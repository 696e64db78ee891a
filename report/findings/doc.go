// Makes the tables of the parts of a run: the repetitions of a stage, and what each of several servers did.

package findings
