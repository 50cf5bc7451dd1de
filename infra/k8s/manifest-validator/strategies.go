package main

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	jobapi "k8s.io/kubernetes/pkg/api/job"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/api/pod"
	serviceapi "k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

// The API server keeps its strategies of four kinds in the packages of their storage. Importing them would compile etcd's
// client, gRPC and every informer, which is more than half of this program. So these strategies repeat what the originals
// do to a new object, with the same functions. When the version in go.mod changes, compare pkg/registry/…/strategy.go.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	scoped   bool
	prepare  func(runtime.Object)
	validate func(runtime.Object) field.ErrorList
	warnings func(context.Context, runtime.Object) []string
}

func (s strategy) NamespaceScoped() bool                                        { return s.scoped }
func (s strategy) PrepareForCreate(_ context.Context, object runtime.Object)    { s.prepare(object) }
func (s strategy) Canonicalize(runtime.Object)                                  {}
func (s strategy) Validate(_ context.Context, o runtime.Object) field.ErrorList { return s.validate(o) }
func (s strategy) WarningsOnCreate(ctx context.Context, o runtime.Object) []string {
	if s.warnings == nil {
		return nil
	}
	return s.warnings(ctx, o)
}

var configMaps = newStrategy(strategy{
	scoped:   true,
	prepare:  func(runtime.Object) {},
	validate: func(o runtime.Object) field.ErrorList { return corevalidation.ValidateConfigMap(o.(*core.ConfigMap)) },
})

var namespaces = newStrategy(strategy{
	prepare: func(o runtime.Object) {
		namespace := o.(*core.Namespace)
		namespace.Status = core.NamespaceStatus{Phase: core.NamespaceActive}
		if !slices.Contains(namespace.Spec.Finalizers, core.FinalizerKubernetes) {
			namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, core.FinalizerKubernetes)
		}
	},
	validate: func(o runtime.Object) field.ErrorList { return corevalidation.ValidateNamespace(o.(*core.Namespace)) },
})

var services = newStrategy(strategy{
	scoped: true,
	prepare: func(o runtime.Object) {
		service := o.(*core.Service)
		service.Status = core.ServiceStatus{}
		// The API server allocates a port, whatever it is.
		if serviceapi.NeedsHealthCheck(service) && service.Spec.HealthCheckNodePort == 0 {
			service.Spec.HealthCheckNodePort = 30000
		}
	},
	validate: func(o runtime.Object) field.ErrorList { return corevalidation.ValidateServiceCreate(o.(*core.Service)) },
	warnings: func(_ context.Context, o runtime.Object) []string {
		return serviceapi.GetWarningsForService(o.(*core.Service), nil)
	},
})

var jobs = newStrategy(strategy{
	scoped: true,
	prepare: func(o runtime.Object) {
		job := o.(*batch.Job)
		if !*job.Spec.ManualSelector {
			selectOwnPods(job)
		}
		job.Status = batch.JobStatus{}
		job.Generation = 1
		pod.DropDisabledTemplateFields(&job.Spec.Template, nil)
	},
	validate: func(o runtime.Object) field.ErrorList {
		job := o.(*batch.Job)
		return batchvalidation.ValidateJob(job, batchvalidation.JobValidationOptions{
			PodValidationOptions:  pod.GetValidationOptionsFromPodTemplate(&job.Spec.Template, nil),
			RequirePrefixedLabels: true,
		})
	},
	warnings: func(ctx context.Context, o runtime.Object) []string {
		job := o.(*batch.Job)
		warnings := jobapi.WarningsForJobSpec(ctx, field.NewPath("spec"), &job.Spec, nil)
		if messages := utilvalidation.IsDNS1123Label(job.Name); len(messages) != 0 {
			warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in Pod names and hostnames; a DNS label is recommended: %v", messages))
		}
		return warnings
	},
})

func newStrategy(s strategy) strategy {
	s.ObjectTyper = legacyscheme.Scheme
	s.NameGenerator = names.SimpleNameGenerator
	return s
}

// Labels the pods of a job and sets its selector to match them, unless the manifest does.
func selectOwnPods(job *batch.Job) {
	template := &job.Spec.Template
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	own := map[string]string{
		batch.LegacyJobNameLabel:       job.Name,
		batch.JobNameLabel:             job.Name,
		batch.LegacyControllerUidLabel: string(job.UID),
		batch.ControllerUidLabel:       string(job.UID),
	}
	for label, value := range own {
		if _, found := template.Labels[label]; !found {
			template.Labels[label] = value
		}
	}
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, found := job.Spec.Selector.MatchLabels[batch.ControllerUidLabel]; !found {
		job.Spec.Selector.MatchLabels[batch.ControllerUidLabel] = string(job.UID)
	}
}
