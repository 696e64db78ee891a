// Describes simulated LLM servers: GPU, model, quantization and the limits of the scheduler ([Config],
// [Preset]), what requests they take ([Config.Fits]), and how long a step takes them ([Config.StepTime]). Three kinds of
// server have step times: of a roofline from data sheets, measured ([Costs]), and fixed ([Plain]).

package sim
