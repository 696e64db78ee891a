// Writes what starts a measurement by several ranks: a batch script for Slurm, or manifests for Kubernetes. It starts nothing
// itself. Secrets of the command line are not written: the script takes them from the environment, and a pod from a Secret.

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/lang"
)

// LaunchOptions are what a script or a manifest is made of.
type LaunchOptions struct {
	Name    string // of the job
	Ranks   int
	CPUs    int    // of each rank
	Memory  string // of each rank: 2G
	Time    time.Duration
	Line    LaunchLine // the command line of each rank
	Lang    lang.Lang
	Version string

	// Slurm.
	Nodes     int // 0 for one a rank
	Partition string
	Account   string
	Sbatch    []string // further options of sbatch
	Program   string   // path of llmsweep on the nodes

	// Kubernetes.
	Namespace string
	Image     string
	Claim     string // PersistentVolumeClaim for the run directory; empty for a volume of the pod
	Secret    string // with the secrets of the command line
	Copier    string // image from which the run directory is copied
	Token     string // of the ranks
}

var (
	// nameText matches the name of a Service (RFC 1035).
	nameText   = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	memoryText = regexp.MustCompile(`^([1-9][0-9]*)([MG])$`)
)

// longestName leaves room for a rank's number in the name of a pod's host, which has 63 characters.
const longestName = 52

// Check returns what is wrong with the options; nil for nothing.
func (o *LaunchOptions) Check() error {
	switch {
	case !nameText.MatchString(o.Name) || len(o.Name) > longestName:
		return fmt.Errorf("--name %s: write lower-case letters, digits and dashes, a letter first, at most %d characters", o.Name, longestName)
	case o.Ranks < 2:
		return errors.New("--ranks must be at least 2: one rank needs no launcher")
	case o.CPUs < 1:
		return errors.New("--cpus must be at least 1")
	case !memoryText.MatchString(o.Memory):
		return fmt.Errorf("--memory %s: write whole gigabytes or megabytes, such as 2G or 512M", o.Memory)
	case o.Time < time.Minute:
		return errors.New("--time must be at least 1m")
	}
	return nil
}

// memory returns the memory of a number of ranks in megabytes.
func (o *LaunchOptions) memory(ranks int) int {
	m := memoryText.FindStringSubmatch(o.Memory)
	n, _ := strconv.Atoi(m[1]) // Check has read it
	if m[2] == "G" {
		n *= 1024
	}
	return n * ranks
}

// Notes returns what the user must know beside the script or manifest, a line each.
func (o *LaunchOptions) Notes(kubernetes bool) (lines []string) {
	if len(o.Line.Secrets) > 0 {
		if kubernetes {
			lines = append(lines, sayCreateSecret.In(o.Lang, o.createSecret()))
		} else {
			lines = append(lines, saySetVariables.In(o.Lang, strings.Join(o.Line.variables(), ", ")))
		}
	}
	for _, f := range o.Line.files() {
		if kubernetes {
			lines = append(lines, sayFileInImage.In(o.Lang, f))
		} else {
			lines = append(lines, sayFileOnNodes.In(o.Lang, f))
		}
	}
	if o.Line.local() {
		lines = append(lines, sayLocalhost.In(o.Lang))
	}
	return lines
}

// createSecret returns the command that makes the Secret of the manifest.
func (o *LaunchOptions) createSecret() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kubectl create secret generic %s", o.Secret)
	if o.Namespace != "" {
		fmt.Fprintf(&b, " --namespace %s", o.Namespace)
	}
	for _, s := range o.Line.Secrets {
		fmt.Fprintf(&b, " --from-literal=%s=...", s.key())
	}
	return b.String()
}
