package published

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hardware is what nvidia-smi printed of the machine.
type hardware struct {
	names      []string // of the GPUs, each
	line       int      // of the first GPU
	text       string
	memory     int // of the largest GPU, in MiB; 0 where it is not told
	least      int // of the smallest
	memoryLine int
	memoryText string
	path       string    // the headings above it
	date       time.Time // when it was printed; zero where that is not told
	noted      bool      // a remark says that results are older
}

var (
	smiGPU    = regexp.MustCompile(`^\|\s*(\d{1,3})\s+(\S.*?)\s+(?:On|Off|N/A)\s*\|`)
	smiMemory = regexp.MustCompile(`(\d{1,8})\s*MiB\s*/\s*(\d{1,8})\s*MiB`)
	smiList   = regexp.MustCompile(`^GPU (\d{1,3}): (\S.*?) \(UUID:`)
	vendor    = regexp.MustCompile(`(?i)^(?:(?:NVIDIA|Tesla|Quadro|GeForce|AMD|Instinct)\s+)+`)
)

func withoutVendor(gpu string) string { return vendor.ReplaceAllString(gpu, "") }

func isSMIHeader(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Contains(line, "NVIDIA-SMI")
}

// readSMI reads the table of nvidia-smi that begins at a line (from 0), and returns how many lines it has. A later
// table replaces an earlier one.
func (c *preamble) readSMI(at int) int {
	first := at
	h := &hardware{path: c.path()}
	if above := at - 2; above >= 0 { // the date is above the frame
		h.date, _ = time.Parse(time.ANSIC, strings.TrimSpace(c.lines[above]))
	}
	for at < len(c.lines) {
		line := strings.TrimSpace(c.lines[at])
		if line == "" || !strings.ContainsRune("|+", []rune(line)[0]) || len(h.names) > 0 && isSMIHeader(line) {
			break
		}
		if m := smiGPU.FindStringSubmatch(line); m != nil && strings.Count(line, "|") >= 3 && !strings.Contains(line, "MiB") {
			h.names = append(h.names, withoutVendor(m[2]))
			if h.line == 0 {
				h.line, h.text = at+1, strings.Join(strings.Fields(m[0]), " ")
			}
		}
		if m := smiMemory.FindStringSubmatch(line); m != nil && len(h.names) > 0 {
			if n, err := strconv.Atoi(m[2]); err == nil {
				if n > h.memory {
					h.memory, h.memoryLine, h.memoryText = n, at+1, m[0]
				}
				h.least = min(cmp.Or(h.least, n), n)
			}
		}
		at++
	}
	if len(h.names) > 0 {
		c.hardware = h
	}
	return at - first
}

// readSMILine reads a line of nvidia-smi -L.
func (c *preamble) readSMILine(line string, number int) bool {
	m := smiList.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if c.hardware == nil || m[1] == "0" {
		c.hardware = &hardware{line: number, text: m[0], path: c.path()}
	}
	c.hardware.names = append(slices.Clone(c.hardware.names), withoutVendor(m[2]))
	return true
}

func (h *hardware) name() string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(h.names))), " + ")
}

// vendorSizes are the sizes of memory that GPUs are sold with, in GB.
var vendorSizes = []int{8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 180, 192, 256, 288}

// gigabytes is the memory as vendors print it: the size between what nvidia-smi tells in units of 2^30 bytes and in
// units of 10^9. Error correction takes a part of some.
func (h *hardware) gigabytes() string {
	low, high := float64(h.memory)/1024, float64(h.memory)*1.048576/1000
	for _, size := range vendorSizes {
		if float64(size) >= low-0.5 && float64(size) <= high+0.5 {
			return strconv.Itoa(size) + " GB"
		}
	}
	return strconv.Itoa(int(math.Round(low))) + " GB"
}

// memoryLabel tells the memory of the largest GPU, and of the smallest where they differ, in no language.
func (h *hardware) memoryLabel() string {
	text := h.memoryText + ": " + h.gigabytes()
	if h.least < h.memory {
		text += " (>= " + strconv.Itoa(h.least) + "MiB)"
	}
	return text
}
