package page

type Sliders struct{}
type Index struct{}
