// What the encoders and decoders of all dialects share: a request body into which the user's fields are merged
// (encoder), a frame of an answer that is read from front to back without allocating ([fieldReader]), and the counting
// of tokens.

package api
