package workload

import (
	"fmt"
	"strings"
)

// BuiltIn names the built-in texts in place of a dataset's path: questions and tasks in English. They take the place of
// random words where a server decodes speculatively, since what it accepts of its drafts depends on the text.
const BuiltIn = "built-in texts"

// BuiltInAnswer is the longest answer to one of them, in tokens. Nearly all end earlier by themselves.
const BuiltInAnswer = 512

// Parts of the built-in texts. Each combination is a prompt.
var (
	builtInTasks = strings.Split(`Explain %s to a new colleague.
Write a short article about %s.
What are the most common mistakes with %s?
Describe the history of %s.
Compare two well-known approaches to %s.
Give a step-by-step introduction to %s.
What should a beginner know about %s?
List the costs and the benefits of %s.
Write a dialogue in which two friends discuss %s.
Which questions would you ask an expert on %s?
Summarize what is known about %s.
Write a letter to a newspaper about %s.
How has technology changed %s?
Plan a lesson of one hour on %s.
What would happen without %s?
Write a function in Python that helps with %s, and explain it.
Tell a story for children that involves %s.
How do different countries deal with %s?
Prepare a checklist for %s.
Argue for and against public money for %s.`, "\n")
	builtInTopics = strings.Split(`growing vegetables in a small garden
the planning of railway timetables
drinking water in large cities
the repair of old bicycles
the weather forecast for the coming week
learning a second language
a household budget
the migration of birds
the design of bridges
the sorting of recycled waste
the translation of poetry
a healthy breakfast
the storage of electricity
the care of elderly parents
the archive of a local museum
public libraries
the testing of software
the navigation of ships
a long hike in the mountains
the teaching of arithmetic
the restoration of paintings
traffic lights at busy crossings
the baking of bread
the monitoring of earthquakes
a meeting with difficult customers
the sleep of young children
the pricing of concert tickets
the maintenance of elevators
the keeping of bees
search in a large collection of documents`, "\n")
	builtInForms = strings.Split(`Use plain language.
Begin with an example.
Keep it to three paragraphs.
Answer as a list with short reasons.
Mention where experts disagree.
Name one surprising fact.
Give numbers where they help.
End with a recommendation.
Write for readers who have little time.
Write for readers who know the subject well.
Avoid technical terms.
Say which of it you are not sure about.
Begin with the conclusion.
Add a table at the end.
Write it as a speech.
Use short sentences.`, "\n")
)

func builtInLines() string {
	var b strings.Builder
	for _, task := range builtInTasks {
		for _, topic := range builtInTopics {
			for _, form := range builtInForms {
				fmt.Fprintf(&b, "{\"prompt\":%q}\n", fmt.Sprintf(task, topic)+" "+form)
			}
		}
	}
	return b.String()
}
